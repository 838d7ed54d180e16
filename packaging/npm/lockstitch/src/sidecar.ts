import { randomBytes } from "crypto";
import { binaryPath } from "./binary";
import { AbortError, SidecarError, SidecarGoneError } from "./errors";
import { Command, Message, Run } from "./process";
import { Subscriptions } from "./subscriptions";
import type { ClientNotifications, Requests, ServerNotifications } from "./protocol/methods";
import type { AppendResult, ClientCapabilities, InitializeResult, Progress, RuntimeEventInput } from "./protocol/types";

export interface SpawnOptions {
  /** Who is asking, for the log: the host's name and version. */
  clientInfo: { name: string; title?: string; version?: string };
  /** The program; default: `binaryPath()`, then with `serve` as the first argument. */
  command?: string;
  /** Its arguments before those that this client adds. */
  args?: readonly string[];
  /** The data root; default: the platform's own place, see README. */
  dataDir?: string;
  /** The child's environment; default: this process's. HOME and PATH are enough. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  capabilities?: ClientCapabilities;
  /** Starts it again when it ends by itself; default true. */
  restart?: boolean;
  /** Waits between starts in milliseconds: first, and at most. A process that lived a minute starts from the first. */
  backoff?: { first?: number; most?: number };
  /** Gives up after so many starts in a row that failed; default 10. */
  maxRestarts?: number;
  /** Milliseconds for the handshake; default 30,000. */
  handshakeTimeout?: number;
  onStderr?: (text: string) => void;
}

/** What of an AbortSignal is used: any implementation will do, also in old versions of Node. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface RequestOptions {
  /** Cancels it. If it happened all the same, the promise gives its result. */
  signal?: Signal;
  /** Told how far it is (exports, gc, rebuild, replay, imports). */
  onProgress?: (value: Progress["value"]) => void;
}

export type State = "starting" | "ready" | "restarting" | "closed" | "failed";

type Rest<P> = {} extends P ? [params?: P, options?: RequestOptions] : [params: P, options?: RequestOptions];
type Listener<T> = (value: T) => void;

/** An event for `append`: `eventId` is made if it is missing. */
export type NewEvent = Omit<RuntimeEventInput, "eventId"> & { eventId?: string };

interface Waiting {
  id: string;
  method: string;
  params: any;
  resolve: (result: any) => void;
  reject: (error: Error) => void;
  /** Whether it is in the hands of the process that runs now. */
  sent: boolean;
  cancelled: boolean;
  onProgress?: RequestOptions["onProgress"];
  cleanUp: () => void;
}

const APPEND = "agentSession/runtimeEvents/append";
const STREAMED = new Set(["message.delta", "reasoning.delta", "command.output"]);
/** What only looks can be asked again without harm. */
const LOOKS = /\/(read|list|get|diff|status|search|report|verify|preview|scan)$/;
const STEADY = 60_000;

/** Start the sidecar and shake hands. Rejects with SidecarGoneError if it does not come up. */
export async function spawnSidecar(options: SpawnOptions): Promise<Sidecar> {
  const sidecar = new Sidecar(options);
  await sidecar.ready();
  return sidecar;
}

/** A sidecar that is kept running: requests, notifications, and what a crash of it needs. */
export class Sidecar {
  /** What `initialize` answered, of the process that runs now. */
  hello!: InitializeResult;
  state: State = "starting";
  private run!: Run;
  private readonly waiting = new Map<string, Waiting>();
  private readonly subscriptions = new Subscriptions();
  private readonly listeners = new Map<string, Set<Listener<any>>>();
  private failures = 0;
  private failure: SidecarGoneError | null = null;
  private retry: NodeJS.Timeout | null = null;
  private closing: Promise<number | null> | null = null;
  private lastStderr = "";

  constructor(private readonly options: SpawnOptions) {
    this.start();
  }

  /** Resolves when it takes requests, also after restarts; rejects when it is closed or given up. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.state === "starting" || this.state === "restarting") return;
        stop();
        if (this.state === "ready") resolve();
        else reject(this.failure ?? new SidecarGoneError("the sidecar was closed", false, this.stderrTail()));
      };
      const stop = this.on("state", look);
      look();
    });
  }

  get pid(): number | undefined {
    return this.run.pid;
  }

  /** The last 64 KiB that the process, or the one before it, wrote to stderr. */
  stderrTail(): string {
    return this.run.stderrTail() || this.lastStderr;
  }

  /** Ask. Rejects with SidecarError, AbortError or SidecarGoneError. */
  request<M extends keyof Requests>(
    method: M,
    ...[params, options]: Rest<Requests[M]["params"]>
  ): Promise<Requests[M]["result"]> {
    return this.ask(method, params, options);
  }

  /** Tell. It is lost if the process ends before it has read it. */
  notify<M extends keyof ClientNotifications>(method: M, params?: ClientNotifications[M]): void {
    if (this.state === "ready") this.run.write({ jsonrpc: "2.0", method, params: params ?? {} });
  }

  /**
   * Append events to a thread. Each gets an event id, so that the append can be sent again after a crash and is
   * stored once. Streamed deltas carry none: an unanswered append of deltas is rejected when the process ends.
   */
  append(
    threadId: string,
    events: readonly NewEvent[],
    options: RequestOptions & { turnId?: string; durability?: "sync" | "buffered" } = {},
  ): Promise<AppendResult> {
    const { turnId, durability, ...rest } = options;
    return this.ask(APPEND, { sessionId: threadId, turnId, durability, runtimeEvents: events }, rest);
  }

  /** Listen to a notification; the result stops it. `"*"` is every one, as `{method, params}`. */
  on<M extends keyof ServerNotifications>(method: M, listener: Listener<ServerNotifications[M]>): () => void;
  on(method: "*", listener: Listener<{ method: string; params: any }>): () => void;
  /** The client's own: `state` tells every change, `subscriptionLost` a thread that could not be resumed. */
  on(what: "state", listener: Listener<State>): () => void;
  on(what: "subscriptionLost", listener: Listener<{ threadId: string; error: Error }>): () => void;
  on(name: string, listener: Listener<any>): () => void {
    const found = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, found.add(listener));
    return () => void found.delete(listener);
  }

  /**
   * End it: what was asked is answered and what was accepted is stored first. Gives the exit status. After `grace`
   * milliseconds it is terminated, and after as many again killed.
   */
  close(grace = 15_000): Promise<number | null> {
    this.closing ??= this.end(grace);
    return this.closing;
  }

  private async end(grace: number): Promise<number | null> {
    const wasUp = this.retry === null;
    if (this.retry) clearTimeout(this.retry);
    if (this.state === "failed") return null;
    this.become("closed");
    if (!wasUp) {
      this.giveUp(new SidecarGoneError("the sidecar was closed", true, this.lastStderr));
      return null;
    }
    this.run.closeInput();
    const terminate = setTimeout(() => this.run.kill("SIGTERM"), grace);
    const kill = setTimeout(() => this.run.kill("SIGKILL"), 2 * grace);
    const { code } = await this.run.ended;
    clearTimeout(terminate);
    clearTimeout(kill);
    return code;
  }

  // -- asking ---------------------------------------------------------------------------------------------------
  private ask(method: string, given: any, options: RequestOptions = {}): Promise<any> {
    const params = withEventIds(method, given ?? {});
    const { signal, onProgress } = options;
    if (signal?.aborted) return Promise.reject(new AbortError(method));
    if (this.failure) return Promise.reject(this.failure);
    if (this.state === "closed") {
      return Promise.reject(new SidecarGoneError("the sidecar was closed", false, this.stderrTail()));
    }
    return new Promise((resolve, reject) => {
      const id = uuid();
      const cancel = () => this.cancel(one);
      const cleanUp = () => signal?.removeEventListener("abort", cancel);
      const sent = onProgress ? { ...params, progressToken: id } : params;
      const one: Waiting = { id, method, params: sent, resolve, reject, sent: false, cancelled: false, onProgress, cleanUp };
      this.waiting.set(id, one);
      signal?.addEventListener("abort", cancel);
      if (this.state === "ready") this.send(one);
    });
  }

  private send(one: Waiting): void {
    one.sent = true;
    this.run.write({ jsonrpc: "2.0", id: one.id, method: one.method, params: one.params });
  }

  private cancel(one: Waiting): void {
    one.cancelled = true;
    if (one.sent) this.run.write({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: one.id } });
    else this.settle(one, () => one.reject(new AbortError(one.method)));
  }

  private settle(one: Waiting, how: () => void): void {
    if (!this.waiting.delete(one.id)) return;
    one.cleanUp();
    how();
  }

  private receive(message: Message): void {
    if (message.method === undefined) return this.answered(message);
    const { method, params } = message;
    if (method === "$/progress") this.waiting.get(params?.token)?.onProgress?.(params.value);
    if (!this.subscriptions.heard(message)) return;
    this.tell(method, params);
    this.tell("*", { method, params });
  }

  private answered({ id, result, error }: Message): void {
    const one = this.waiting.get(id as string);
    if (one === undefined) return;
    if (error) {
      const cancelled = one.cancelled && error.code === -32800;
      this.settle(one, () => one.reject(cancelled ? new AbortError(one.method) : new SidecarError(one.method, error)));
    } else {
      this.subscriptions.answered(one.method, one.params, result);
      this.settle(one, () => one.resolve(result));
    }
  }

  // A listener that throws is the host's own fault, and must not stop the others or the reading.
  private tell(name: string, value: unknown): void {
    for (const listener of [...(this.listeners.get(name) ?? [])]) {
      try {
        listener(value);
      } catch (error) {
        setImmediate(() => {
          throw error;
        });
      }
    }
  }

  private become(state: State): void {
    this.state = state;
    this.tell("state", state);
  }

  // -- life -----------------------------------------------------------------------------------------------------
  private start(): void {
    const run = new Run(this.command(), (message) => this.receive(message), (text) => this.options.onStderr?.(text));
    this.run = run;
    const began = Date.now();
    run.ended.then((end) => this.ended(run, end, Date.now() - began));
    this.shakeHands(run).catch(() => run.kill("SIGKILL")); // whatever it was: `ended` decides what comes next
  }

  private command(): Command {
    const { command, args, dataDir, env, cwd } = this.options;
    const all = [...(args ?? (command === undefined ? ["serve"] : []))];
    if (dataDir !== undefined) all.push("--data-dir", dataDir);
    all.push("--parent-pid", String(process.pid));
    return { command: command ?? binaryPath(), args: all, env, cwd };
  }

  private async shakeHands(run: Run): Promise<void> {
    const { clientInfo, capabilities, handshakeTimeout = 30_000 } = this.options;
    const timer = setTimeout(() => run.kill("SIGKILL"), handshakeTimeout);
    try {
      this.hello = (await this.first(run, "initialize", { clientInfo, capabilities })) as InitializeResult;
      run.write({ jsonrpc: "2.0", method: "initialized", params: {} });
      for (const params of this.subscriptions.resumes()) {
        await this.first(run, "thread/resume", params).catch((error: Error) => {
          if (error instanceof SidecarGoneError) throw error;
          this.subscriptions.drop(params.threadId);
          this.tell("subscriptionLost", { threadId: params.threadId, error });
        });
      }
    } finally {
      clearTimeout(timer);
    }
    if (this.state !== "starting" && this.state !== "restarting") return;
    this.become("ready");
    for (const one of this.waiting.values()) if (!one.sent) this.send(one);
  }

  /** A request of the start itself: before the others, and gone with this process. */
  private first(run: Run, method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        id: uuid(), method, params, resolve, reject, sent: true, cancelled: false, cleanUp: () => undefined,
      };
      this.waiting.set(one.id, one);
      run.write({ jsonrpc: "2.0", id: one.id, method, params });
      run.ended.then(({ code, error }) => {
        const why = error ? error.message : `it ended during ${method}`;
        this.settle(one, () => reject(new SidecarGoneError(`the sidecar does not start: ${why}`, false, run.stderrTail(), code)));
      });
    });
  }

  private ended(run: Run, end: { code: number | null; signal: string | null; error?: Error }, lived: number): void {
    this.lastStderr = run.stderrTail();
    const how = end.error?.message ?? (end.signal ? `by ${end.signal}` : `with status ${end.code}`);
    const gone = (happened: boolean) =>
      new SidecarGoneError(`the sidecar ended ${how}`, happened, this.lastStderr, end.code);
    if (this.state === "closed") return this.giveUp(gone(true));
    const { restart = true, maxRestarts = 10, backoff = {} } = this.options;
    if (lived > STEADY) this.failures = 0;
    this.failures++;
    // status 2 says that the arguments or the data root cannot be used: the next start would say the same
    const neverUp = this.state === "starting" && this.hello === undefined;
    if (!restart || neverUp || end.error || end.code === 2 || this.failures > maxRestarts) {
      this.failure = gone(true);
      this.become("failed");
      return this.giveUp(this.failure);
    }
    for (const one of [...this.waiting.values()]) {
      if (!one.sent) continue;
      if (one.cancelled) this.settle(one, () => one.reject(new AbortError(one.method)));
      else if (canBeAskedAgain(one)) one.sent = false;
      else this.settle(one, () => one.reject(gone(true)));
    }
    this.become("restarting");
    const { first = 100, most = 5_000 } = backoff;
    const wait = Math.min(most, first * 2 ** (this.failures - 1));
    this.retry = setTimeout(() => {
      this.retry = null;
      this.start();
    }, wait);
  }

  private giveUp(error: SidecarGoneError): void {
    for (const one of [...this.waiting.values()]) {
      const gone = new SidecarGoneError(error.message, one.sent, error.stderr, error.exitCode);
      this.settle(one, () => one.reject(gone));
    }
  }
}

/** Everything of an append but deltas gets an id of its own, which makes sending it again harmless. */
function withEventIds(method: string, params: any): any {
  if (method !== APPEND || !Array.isArray(params.runtimeEvents)) return params;
  const runtimeEvents = params.runtimeEvents.map((event: any) => {
    const type = event.type ?? event.eventType ?? event.event_type;
    return event.eventId || STREAMED.has(type) ? event : { ...event, eventId: `evt_${uuid()}` };
  });
  return { ...params, runtimeEvents };
}

function canBeAskedAgain({ method, params }: Waiting): boolean {
  if (method !== APPEND) return LOOKS.test(method);
  return Array.isArray(params.runtimeEvents) && params.runtimeEvents.every((event: any) => event.eventId);
}

/** A random UUID, version 4; `crypto.randomUUID` is missing in older versions of Node and Electron. */
function uuid(): string {
  const hex = randomBytes(16).toString("hex");
  const variant = ((parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
