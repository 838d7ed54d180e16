export { binaryPath } from "./binary";
export { AbortError, SidecarError, SidecarGoneError } from "./errors";
export { Sidecar, spawnSidecar } from "./sidecar";
export type { NewEvent, RequestOptions, Signal, SpawnOptions, State } from "./sidecar";
export type { ClientNotifications, ErrorKind, EventPayloads, Requests, ServerNotifications } from "./protocol/methods";
export type * as types from "./protocol/types";
