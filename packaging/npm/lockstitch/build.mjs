// Builds dist/: CommonJS by tsc, an ES module that hands on the same objects (one copy of the client in a program,
// however it is imported), and the types of the protocol from schemas/. `tsc` is found in node_modules, or is the
// program that TSC names.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const schemas = join(here, "..", "..", "..", "schemas", "typescript");
const require = createRequire(import.meta.url);
const tsc = process.env.TSC ?? require.resolve("typescript/bin/tsc");

rmSync(join(here, "dist"), { recursive: true, force: true });
if (existsSync(schemas)) {
  rmSync(join(here, "src", "protocol"), { recursive: true, force: true });
  mkdirSync(join(here, "src", "protocol"), { recursive: true });
  cpSync(schemas, join(here, "src", "protocol"), { recursive: true });
}
execFileSync(process.execPath, [tsc, "--project", here, ...process.argv.slice(2)], { stdio: "inherit" });
cpSync(join(here, "src", "protocol"), join(here, "dist", "protocol"), { recursive: true });

const names = Object.keys(require("./dist/index.js"));
const lines = ['import lockstitch from "./index.js";', ...names.map((name) => `export const ${name} = lockstitch.${name};`)];
writeFileSync(join(here, "dist", "index.mjs"), lines.join("\n") + "\n");
writeFileSync(join(here, "dist", "index.d.mts"), 'export * from "./index.js";\n');
