import type { ErrorKind } from "./protocol/methods";

/** An error reply. Match on `kind`, never on the message. */
export class SidecarError extends Error {
  readonly code: number;
  readonly kind: ErrorKind | string;
  /** All of the reply's `data`: the field, id, path or limit concerned. */
  readonly data: { kind?: string; [key: string]: unknown };

  constructor(readonly method: string, error: { code: number; message: string; data?: SidecarError["data"] }) {
    super(error.message);
    this.name = "SidecarError";
    this.code = error.code;
    this.data = error.data ?? {};
    this.kind = this.data.kind ?? "internalError";
  }
}

/** The request was cancelled by its signal, and the sidecar says that nothing of it happened. */
export class AbortError extends Error {
  constructor(readonly method: string) {
    super(`${method} was cancelled`);
    this.name = "AbortError";
  }
}

/** The sidecar went away before it answered. */
export class SidecarGoneError extends Error {
  constructor(
    message: string,
    /** Whether the request had been written: it may have been carried out, and nobody said so. */
    readonly mayHaveHappened: boolean,
    /** The last of what the process wrote to stderr. */
    readonly stderr: string,
    /** Its exit status, or null after a signal. */
    readonly exitCode: number | null = null,
  ) {
    super(message);
    this.name = "SidecarGoneError";
  }
}
