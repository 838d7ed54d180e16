import { existsSync } from "fs";
import { dirname, join } from "path";

/**
 * Where the sidecar's program is: what the environment variable LOCKSTITCH_BINARY names, else the one in the platform
 * package (`@lockstitch/<platform>-<arch>`) that npm installed beside this one. Inside Electron the file has to lie
 * outside the archive (`asarUnpack`), and that is where this looks. Throws if there is none.
 */
export function binaryPath(): string {
  const named = process.env.LOCKSTITCH_BINARY;
  if (named) return named;
  const name = `@lockstitch/${process.platform}-${process.arch}`;
  let folder: string;
  try {
    folder = dirname(require.resolve(`${name}/package.json`));
  } catch {
    throw new Error(
      `There is no ${name}: it is an optional dependency of lockstitch, which npm leaves out with --omit=optional and ` +
        "for systems that it is not built for. Install lockstitch from PyPI and give its path as `command`.",
    );
  }
  const program = join(folder, "lockstitch", process.platform === "win32" ? "lockstitch.exe" : "lockstitch");
  const unpacked = program.replace(/([\\/][^\\/]+\.asar)(?=[\\/])/, "$1.unpacked");
  const found = unpacked !== program && existsSync(unpacked) ? unpacked : program;
  if (!existsSync(found)) throw new Error(`${name} is installed without its program, ${found}`);
  return found;
}
