import { ChildProcess, spawn } from "child_process";
import { StringDecoder } from "string_decoder";

const STDERR_KEPT = 64 * 1024;

/** One message of the protocol, as it arrives. */
export interface Message {
  id?: string | number | null;
  method?: string;
  params?: any;
  result?: unknown;
  error?: { code: number; message: string; data?: { kind?: string } };
}

export interface Command {
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** One run of the sidecar: JSON lines in and out, the end, and the tail of what it wrote to stderr. */
export class Run {
  private readonly child: ChildProcess;
  private readonly kept: string[] = [];
  private keptLength = 0;
  /** Settles once, when the process is gone and all that it wrote has been read. */
  readonly ended: Promise<{ code: number | null; signal: string | null; error?: Error }>;

  constructor(command: Command, onMessage: (message: Message) => void, onStderr: (text: string) => void) {
    this.child = spawn(command.command, [...command.args], {
      cwd: command.cwd,
      env: command.env,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    const { stdin, stdout, stderr } = this.child;
    stdin!.on("error", () => undefined); // it is gone; `ended` says so
    let failure: Error | undefined;
    readLines(stdout!, (line) => {
      const message = parsed(line);
      if (message) onMessage(message);
      else if (!failure) {
        failure = new Error(`${command.command} is no sidecar: it wrote ${JSON.stringify(line.slice(0, 200))}`);
        this.child.kill("SIGKILL");
      }
    });
    stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.kept.push(text);
      this.keptLength += text.length;
      while (this.keptLength > STDERR_KEPT && this.kept.length > 1) this.keptLength -= this.kept.shift()!.length;
      onStderr(text);
    });
    this.ended = new Promise((resolve) => {
      this.child.on("error", (error) => {
        failure = error;
        if (this.child.pid === undefined) resolve({ code: null, signal: null, error });
      });
      this.child.on("close", (code, signal) => resolve({ code, signal, error: failure }));
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  write(message: object): void {
    const { stdin } = this.child;
    if (stdin && stdin.writable) stdin.write(JSON.stringify(message) + "\n");
  }

  /** The last 64 KiB of stderr, whole. */
  stderrTail(): string {
    return this.kept.join("").slice(-STDERR_KEPT);
  }

  closeInput(): void {
    this.child.stdin?.end();
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

function parsed(line: string): Message | null {
  try {
    const message = JSON.parse(line);
    return typeof message === "object" ? message : null;
  } catch {
    return null;
  }
}

/** Lines end at LF only: `readline` also splits at U+2028, which is text here. Parts are joined once, when a line is whole. */
function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  stream.on("data", (chunk: Buffer) => {
    const lines = decoder.write(chunk).split("\n");
    parts.push(lines[0]!);
    for (let index = 1; index < lines.length; index++) {
      const line = parts.join("");
      parts = [lines[index]!];
      if (line.trim()) onLine(line);
    }
  });
}
