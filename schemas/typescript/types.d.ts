/* Generated from lockstitch_protocol by `python -m lockstitch_protocol.generate`. Do not edit. */

/**
 * One thing in a turn.
 */
export type ThreadItem =
  | UserMessageItem
  | AgentMessageItem
  | PlanItem
  | ReasoningItem
  | CommandExecutionItem
  | FileChangeItem
  | McpToolCallItem
  | DynamicToolCallItem
  | WebSearchItem
  | ImageViewItem
  | ContextCompactionItem;
/**
 * One part of a user's message.
 */
export type UserInput = TextInput | ImageInput | LocalImageInput | SkillInput | MentionInput;
/**
 * An item as a host may send it: a known one, or one of any other type with an id.
 */
export type HostItem = ThreadItemInput | OtherItem;
/**
 * One thing in a turn.
 */
export type ThreadItemInput =
  | UserMessageItemInput
  | AgentMessageItemInput
  | PlanItemInput
  | ReasoningItemInput
  | CommandExecutionItemInput
  | FileChangeItemInput
  | McpToolCallItemInput
  | DynamicToolCallItemInput
  | WebSearchItemInput
  | ImageViewItemInput
  | ContextCompactionItemInput;

/**
 * Payload of action.required, action.resolved and action.cancelled: approvals.
 */
export interface ActionPayload {
  /**
   * Names the question; its answer carries the same.
   */
  requestId: string;
  [k: string]: unknown;
}
/**
 * A turn is open.
 */
export interface ActiveStatus {
  /**
   * A turn is open.
   */
  type: "active";
  /**
   * Such as `waitingOnApproval`.
   */
  activeFlags: string[];
}
/**
 * One durable fact of a thread, as it is returned.
 */
export interface AgentEvent {
  /**
   * Unique in its thread.
   */
  eventId: string;
  /**
   * 1, 2, 3… without gaps in its thread: the only order. Absent while it is not stored yet.
   */
  sequence?: number;
  /**
   * The session, which is the thread: the same id.
   */
  sessionId: string;
  /**
   * The thread that the event belongs to.
   */
  threadId: string;
  /**
   * The turn that it belongs to.
   */
  turnId?: string;
  /**
   * The item that it belongs to.
   */
  itemId?: string;
  /**
   * Its type, one of the table or any other.
   */
  type: string;
  /**
   * When it happened: RFC 3339, UTC, microseconds. For people, not for order.
   */
  timestamp: string;
  /**
   * As stored: file content is a reference, a whole item is in `item`.
   */
  payload: {
    [k: string]: unknown;
  };
}
/**
 * A user's message as session clients send it.
 */
export interface AgentInput {
  /**
   * The text.
   */
  text: string;
  /**
   * What is attached.
   */
  attachments?: Attachment[] | null;
  [k: string]: unknown;
}
/**
 * Something attached to a message.
 */
export interface Attachment {
  /**
   * Such as `image` or `file`.
   */
  kind: string;
  /**
   * Where it is: a path, URL or `data:` URL.
   */
  uri?: string | null;
  /**
   * As the client gave it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What the agent said. Always whole.
 */
export interface AgentMessageItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "agentMessage";
  /**
   * The message.
   */
  text: string;
  /**
   * Such as `commentary` or `final_answer`, as the host gave it.
   */
  phase?: string;
  [k: string]: unknown;
}
/**
 * Where an output is that was too large for its line; read it with `artifact/read`.
 */
export interface OutputRef {
  /**
   * Names the content in `artifact/read`.
   */
  artifactRef: string;
  /**
   * SHA-256 of the whole output, 64 hexadecimal digits.
   */
  sha256: string;
  /**
   * Size of the whole output.
   */
  bytes: number;
}
/**
 * What the agent said. Always whole.
 */
export interface AgentMessageItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "agentMessage";
  /**
   * The message.
   */
  text?: string | null;
  /**
   * Such as `commentary` or `final_answer`, as the host gave it.
   */
  phase?: string | null;
  [k: string]: unknown;
}
/**
 * A thread as a session.
 */
export interface AgentSession {
  /**
   * The thread's id.
   */
  sessionId: string;
  /**
   * The same id.
   */
  threadId: string;
  /**
   * `agent-chat`, or the app that agentSession/start named.
   */
  appId: string;
  /**
   * As agentSession/start gave it.
   */
  workspaceId?: string;
  /**
   * What it is doing, or how its last turn ended.
   */
  status: "idle" | "running" | "waitingAction" | "completed" | "failed" | "canceled";
  /**
   * RFC 3339, UTC, microseconds.
   */
  createdAt: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  updatedAt: string;
}
/**
 * Result of agentSession/delete.
 */
export interface AgentSessionDeleteResult {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * Always true; deleting again is no error.
   */
  deleted: boolean;
}
/**
 * Params of agentSession/list.
 */
export interface AgentSessionListParams {
  /**
   * True: archived ones too.
   */
  includeArchived?: boolean | null;
  /**
   * True: only archived ones.
   */
  archivedOnly?: boolean | null;
  /**
   * Only sessions of these workspaces.
   */
  cwd?: string | string[] | null;
  /**
   * Only sessions with this workspaceId.
   */
  workspaceId?: string | null;
  /**
   * At most so many sessions.
   */
  limit?: number | null;
  /**
   * `nextCursor` of the page before.
   */
  cursor?: string | null;
}
/**
 * Result of agentSession/list: the last updated first.
 */
export interface AgentSessionListResult {
  /**
   * This page.
   */
  sessions: AgentSessionOverview[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
}
/**
 * A session in a list.
 */
export interface AgentSessionOverview {
  /**
   * The thread's id.
   */
  sessionId: string;
  /**
   * The same id.
   */
  threadId: string;
  /**
   * The thread's name, or its preview.
   */
  title?: string;
  /**
   * Its model; "" if it was not given.
   */
  model: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  createdAt: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  updatedAt: string;
  /**
   * When it was archived, RFC 3339.
   */
  archivedAt?: string;
  /**
   * As agentSession/start gave it.
   */
  workspaceId?: string;
  /**
   * The workspace root.
   */
  workingDir?: string;
  /**
   * How many messages of user and agent it has.
   */
  messagesCount: number;
  /**
   * As `AgentSession.status`.
   */
  threadStatus: string;
  /**
   * As `AgentTurn.status`.
   */
  latestTurnStatus?: string;
  /**
   * The open turn.
   */
  activeTurnId?: string;
  /**
   * Always 0: turns are not queued here.
   */
  queuedTurnCount: number;
}
/**
 * A session alone.
 */
export interface AgentSessionParams {
  /**
   * The session.
   */
  sessionId: string;
}
/**
 * Params of agentSession/read.
 */
export interface AgentSessionReadParams {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * At most so many items in `detail`, counted from the newest.
   */
  historyLimit?: number | null;
  /**
   * How many of the newest items to leave out first.
   */
  historyOffset?: number | null;
}
/**
 * Result of agentSession/read.
 */
export interface AgentSessionReadResult {
  /**
   * The session.
   */
  session: AgentSession;
  /**
   * Its turns, oldest first.
   */
  turns: AgentTurn[];
  /**
   * Its items.
   */
  detail: SessionDetail;
}
/**
 * A turn of a session.
 */
export interface AgentTurn {
  /**
   * Unique in its thread.
   */
  turnId: string;
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * How far it came; an interrupted turn is `canceled`.
   */
  status: "accepted" | "queued" | "running" | "waitingAction" | "completed" | "failed" | "canceled";
  /**
   * RFC 3339, UTC, microseconds.
   */
  startedAt?: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  completedAt?: string;
}
/**
 * The items of a session. Its names are snake_case on the wire.
 */
export interface SessionDetail {
  /**
   * The session.
   */
  session_id: string;
  /**
   * The thread.
   */
  thread_id: string;
  /**
   * The workspace root.
   */
  working_dir?: string;
  /**
   * The items, oldest first.
   */
  items: (FileArtifactItem | SessionItem)[];
  /**
   * As the thread's `fileCheckpointSummary`.
   */
  file_checkpoint_summary: {
    [k: string]: unknown;
  };
  /**
   * The newest artifacts.
   */
  recentArtifacts: Artifact[];
  [k: string]: unknown;
}
/**
 * A file checkpoint among a session's items. Its names are snake_case on the wire.
 */
export interface FileArtifactItem {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Tag of the item.
   */
  type: "file_artifact";
  /**
   * The thread.
   */
  thread_id: string;
  /**
   * Its turn.
   */
  turn_id?: string;
  /**
   * The file, relative to the workspace.
   */
  path: string;
  /**
   * How it came to be known.
   */
  source: string;
  /**
   * `ready` or `failed`.
   */
  status: string;
  /**
   * Its version.
   */
  metadata: FileArtifactMetadata;
  /**
   * RFC 3339, UTC, microseconds.
   */
  updated_at: string;
  [k: string]: unknown;
}
/**
 * A checkpoint as `agentSession/read` details it.
 */
export interface FileArtifactMetadata {
  /**
   * Of thread and path.
   */
  artifactId: string;
  /**
   * 1, 2, 3… per path in the thread.
   */
  artifactVersionNo?: number;
  /**
   * Names the version.
   */
  artifactVersionId?: string;
  /**
   * The version in short.
   */
  artifactVersion?: {
    [k: string]: unknown;
  };
  /**
   * As the event gave it.
   */
  artifactKind?: string;
  /**
   * `ready` or `failed`.
   */
  artifactStatus?: string;
  /**
   * A short text for lists.
   */
  previewText?: string;
  /**
   * The bounded diff from the version before.
   */
  artifactVersionDiff?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Any other item of a session: a ThreadItem with its place. Its own names are snake_case on the wire.
 */
export interface SessionItem {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * As in ThreadItem.
   */
  type: string;
  /**
   * The thread.
   */
  thread_id: string;
  /**
   * Its turn.
   */
  turn_id?: string;
  [k: string]: unknown;
}
/**
 * A file version, or a tool's output that was too large for its line.
 */
export interface Artifact {
  /**
   * Names it.
   */
  artifactRef: string;
  /**
   * The event that it came with.
   */
  eventId: string;
  /**
   * Sequence of that event.
   */
  sequence: number;
  /**
   * Its turn.
   */
  turnId?: string;
  /**
   * The item whose output it is.
   */
  itemId?: string;
  /**
   * SHA-256 of the content, 64 hexadecimal digits.
   */
  sha256?: string;
  /**
   * Size of the content.
   */
  bytes?: number;
  /**
   * Of thread and path, for a file version.
   */
  artifactId?: string;
  /**
   * The file, relative to the workspace.
   */
  path?: string;
  /**
   * As the event gave it.
   */
  title?: string;
  /**
   * As the event gave it, or `output`.
   */
  kind?: string;
  /**
   * `ready` or `failed`.
   */
  status?: string;
  /**
   * The content, where it is text.
   */
  content?: string;
  /**
   * The content, where it is not text.
   */
  contentBase64?: string;
  /**
   * Whether the content can be had.
   */
  contentStatus: "available" | "missing" | "corrupt" | "tooLarge" | "unreadable" | "notCaptured";
  /**
   * What the event gave besides.
   */
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * Params of agentSession/start: those of thread/start, and what session clients send.
 *
 * A session is a thread: `sessionId` is its id, else `threadId`, else one is made. Where both are given
 * sessionId wins. Fields that are not listed are kept in the thread's `extra`.
 */
export interface AgentSessionStartParams {
  /**
   * The workspace root, absolute. Without one, file contents must come in the events.
   */
  cwd?: string | null;
  /**
   * The model that the host uses.
   */
  model?: string | null;
  /**
   * The provider of the model.
   */
  modelProvider?: string | null;
  /**
   * Further roots; recorded only.
   */
  runtimeWorkspaceRoots?: string[] | null;
  /**
   * True: keep it in memory only.
   */
  ephemeral?: boolean | null;
  /**
   * What started it; returned as given.
   */
  threadSource?: {
    [k: string]: unknown;
  };
  /**
   * Name of the host's service.
   */
  serviceName?: string | null;
  /**
   * A name for people.
   */
  name?: string | null;
  /**
   * Id for the new thread; one is made if absent.
   */
  threadId?: string | null;
  /**
   * The repository of the workspace.
   */
  gitInfo?: GitInfoInput | null;
  /**
   * Id for the new session; goes before threadId.
   */
  sessionId?: string | null;
  /**
   * The app that it belongs to. Default `agent-chat`.
   */
  appId?: string | null;
  /**
   * The host's own id of the workspace; returned only.
   */
  workspaceId?: string | null;
  /**
   * As `name`.
   */
  title?: string | null;
  [k: string]: unknown;
}
/**
 * The state of the workspace's repository, as the host gave it.
 */
export interface GitInfoInput {
  /**
   * The commit.
   */
  sha?: string | null;
  /**
   * The branch.
   */
  branch?: string | null;
  /**
   * URL of `origin`.
   */
  originUrl?: string | null;
  [k: string]: unknown;
}
/**
 * Result of agentSession/start: that of thread/start, and the session.
 */
export interface AgentSessionStartResult {
  /**
   * The thread.
   */
  thread: Thread;
  /**
   * The model; "" if it was not given.
   */
  model: string;
  /**
   * Its provider; "" if it was not given.
   */
  modelProvider: string;
  /**
   * The workspace root; "" where there is none.
   */
  cwd: string;
  /**
   * As given.
   */
  runtimeWorkspaceRoots: string[];
  /**
   * Always empty: the host reads instructions.
   */
  instructionSources: string[];
  /**
   * As given, else null.
   */
  approvalPolicy: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  approvalsReviewer: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  sandbox: {
    [k: string]: unknown;
  };
  /**
   * The new session.
   */
  session: AgentSession;
}
/**
 * A thread as reads, lists and notifications return it.
 */
export interface Thread {
  /**
   * Unique in the data root.
   */
  id: string;
  /**
   * The thread's own id.
   */
  sessionId: string;
  /**
   * The beginning of the first user message.
   */
  preview: string;
  /**
   * True: it lives in memory only.
   */
  ephemeral: boolean;
  /**
   * Turns and items are read in pages.
   */
  historyMode: "paginated";
  /**
   * The provider of its model.
   */
  modelProvider: string;
  /**
   * Unix seconds.
   */
  createdAt: number;
  /**
   * Unix seconds.
   */
  updatedAt: number;
  /**
   * When the last turn started, unix seconds.
   */
  recencyAt?: number;
  /**
   * What it is doing.
   */
  status: IdleStatus | ActiveStatus;
  /**
   * Its rollout file.
   */
  path?: string;
  /**
   * The workspace root; "" where there is none.
   */
  cwd: string;
  /**
   * Version of the program that created it.
   */
  cliVersion: string;
  /**
   * What created it: a word, or an object for a sub-agent.
   */
  source: {
    [k: string]: unknown;
  };
  /**
   * As thread/start gave it.
   */
  threadSource?: {
    [k: string]: unknown;
  };
  /**
   * The name that it was given.
   */
  name?: string;
  /**
   * The thread that it is a fork of.
   */
  forkedFromId?: string;
  /**
   * The thread whose agent started it.
   */
  parentThreadId?: string;
  /**
   * The repository, as the host gave it.
   */
  gitInfo?: GitInfo;
  /**
   * What thread/start and metadata/update gave besides.
   */
  extra?: {
    [k: string]: unknown;
  };
  /**
   * Its turns, where they were asked for, else empty.
   */
  turns: Turn[];
  /**
   * Whether it is archived.
   */
  archived: boolean;
  /**
   * Sequence of its newest event.
   */
  lastSequence: number;
  /**
   * How many turns it has.
   */
  turnCount: number;
  /**
   * The thread at the root of the tree of forks.
   */
  forkRootId?: string;
  /**
   * Whether files can be read from and restored into a workspace.
   */
  workspaceLinked: boolean;
  /**
   * What all its turns used.
   */
  usage?: Usage;
  /**
   * True: bytes that were committed are lost.
   */
  partial?: boolean;
  /**
   * What was set aside or cannot be read.
   */
  damage?: DamagedRange[];
  /**
   * Its file checkpoints in short.
   */
  fileCheckpointSummary: FileCheckpointCount;
}
/**
 * No turn is open, or the thread cannot be read.
 */
export interface IdleStatus {
  /**
   * A readable thread is `idle`.
   */
  type: "idle" | "notLoaded" | "systemError";
}
/**
 * The state of the workspace's repository, as the host gave it.
 */
export interface GitInfo {
  /**
   * The commit.
   */
  sha?: string;
  /**
   * The branch.
   */
  branch?: string;
  /**
   * URL of `origin`.
   */
  originUrl?: string;
  [k: string]: unknown;
}
/**
 * A turn as reads and notifications return it.
 */
export interface Turn {
  /**
   * Unique in its thread.
   */
  id: string;
  /**
   * Its items in order, as far as `itemsView` says.
   */
  items: ThreadItem[];
  /**
   * How much of the items is here.
   */
  itemsView: "notLoaded" | "summary" | "full";
  /**
   * `interrupted` is also what a cancelled turn reads as.
   */
  status: "inProgress" | "completed" | "interrupted" | "failed";
  /**
   * Why it failed.
   */
  error?: TurnError;
  /**
   * Unix seconds.
   */
  startedAt?: number;
  /**
   * Unix seconds.
   */
  completedAt?: number;
  /**
   * Milliseconds by the sidecar's clock.
   */
  durationMs?: number;
  /**
   * What its requests to models used.
   */
  usage?: Usage;
  /**
   * Provider, model and wire format, as selected.
   */
  route?: {
    [k: string]: unknown;
  };
  /**
   * What its agent was allowed to do.
   */
  authority?: {
    [k: string]: unknown;
  };
}
/**
 * What the user said.
 */
export interface UserMessageItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "userMessage";
  /**
   * The parts of the message, in order.
   */
  content: UserInput[];
  /**
   * The client's own id of the message.
   */
  clientId?: string;
  [k: string]: unknown;
}
/**
 * Text that the user wrote.
 */
export interface TextInput {
  /**
   * Tag of this part.
   */
  type: "text";
  /**
   * The text, whole.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * An image by URL (a `data:` URL too).
 */
export interface ImageInput {
  /**
   * Tag of this part.
   */
  type: "image";
  /**
   * Where the image is, or the image itself as a `data:` URL.
   */
  url: string;
  [k: string]: unknown;
}
/**
 * An image file on this machine.
 */
export interface LocalImageInput {
  /**
   * Tag of this part.
   */
  type: "localImage";
  /**
   * Path of the image file.
   */
  path: string;
  [k: string]: unknown;
}
/**
 * A skill that the user asked for.
 */
export interface SkillInput {
  /**
   * Tag of this part.
   */
  type: "skill";
  /**
   * Name of the skill.
   */
  name: string;
  /**
   * Path of the skill's file.
   */
  path: string;
  [k: string]: unknown;
}
/**
 * Something that the user pointed at.
 */
export interface MentionInput {
  /**
   * Tag of this part.
   */
  type: "mention";
  /**
   * Name of what is mentioned.
   */
  name: string;
  /**
   * Path or URI of what is mentioned.
   */
  path: string;
  [k: string]: unknown;
}
/**
 * A plan that the agent made.
 */
export interface PlanItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "plan";
  /**
   * The plan.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * What the agent thought.
 */
export interface ReasoningItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "reasoning";
  /**
   * Summaries of the reasoning.
   */
  summary: string[];
  /**
   * The reasoning itself, where it is known.
   */
  content: string[];
  [k: string]: unknown;
}
/**
 * A command that was run.
 */
export interface CommandExecutionItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "commandExecution";
  /**
   * The command line.
   */
  command: string;
  /**
   * Where it ran.
   */
  cwd: string;
  /**
   * How far it came.
   */
  status: "inProgress" | "completed" | "failed" | "declined";
  /**
   * Who ran it: `agent`, `userShell`, …
   */
  source: string;
  /**
   * What the host understood the command to do.
   */
  commandActions: {
    [k: string]: unknown;
  }[];
  /**
   * Standard output and error as they came.
   */
  aggregatedOutput?: string;
  /**
   * Exit code, where the command ended.
   */
  exitCode?: number;
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number;
  [k: string]: unknown;
}
/**
 * Files that were changed; a file checkpoint appears as one of these.
 */
export interface FileChangeItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "fileChange";
  /**
   * The changed files.
   */
  changes: FileUpdateChange[];
  /**
   * How far it came.
   */
  status: "inProgress" | "completed" | "failed" | "declined";
  /**
   * The file checkpoint that this item shows.
   */
  checkpointId?: string;
  [k: string]: unknown;
}
/**
 * One changed file of a fileChange item.
 */
export interface FileUpdateChange {
  /**
   * Path of the file.
   */
  path: string;
  /**
   * What happened to it.
   */
  kind: ChangeKind;
  /**
   * Unified diff of the change.
   */
  diff: string;
  [k: string]: unknown;
}
/**
 * What happened to a file.
 */
export interface ChangeKind {
  /**
   * Created, deleted or changed.
   */
  type: "add" | "delete" | "update";
  /**
   * The new path of a renamed file.
   */
  move_path?: string;
  [k: string]: unknown;
}
/**
 * A call of an MCP server's tool.
 */
export interface McpToolCallItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "mcpToolCall";
  /**
   * Name of the MCP server.
   */
  server: string;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * How far it came.
   */
  status: "inProgress" | "completed" | "failed" | "declined";
  /**
   * What the tool was given.
   */
  arguments?: {
    [k: string]: unknown;
  };
  /**
   * What it returned.
   */
  result?: {
    [k: string]: unknown;
  };
  /**
   * Why it failed.
   */
  error?: {
    [k: string]: unknown;
  };
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number;
  [k: string]: unknown;
}
/**
 * A call of a tool that the host itself provides.
 */
export interface DynamicToolCallItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "dynamicToolCall";
  /**
   * Namespace of the tool.
   */
  namespace?: string;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * What the tool was given.
   */
  arguments?: {
    [k: string]: unknown;
  };
  /**
   * How far it came.
   */
  status: "inProgress" | "completed" | "failed" | "declined";
  /**
   * What it returned.
   */
  contentItems?: unknown[];
  /**
   * Whether the tool says that it succeeded.
   */
  success?: boolean;
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number;
  [k: string]: unknown;
}
/**
 * A search in the web.
 */
export interface WebSearchItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "webSearch";
  /**
   * What was searched for.
   */
  query?: string;
  /**
   * Search, open page or find in page, as the host says.
   */
  action?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An image that the agent looked at.
 */
export interface ImageViewItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "imageView";
  /**
   * Path of the image.
   */
  path: string;
  [k: string]: unknown;
}
/**
 * The host made the agent's context shorter here.
 */
export interface ContextCompactionItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef;
  /**
   * Tag of the item.
   */
  type: "contextCompaction";
  [k: string]: unknown;
}
/**
 * Why a turn failed.
 */
export interface TurnError {
  /**
   * A sentence for a person.
   */
  message: string;
  /**
   * More of it, as the host gave it.
   */
  additionalDetails?: string;
  [k: string]: unknown;
}
/**
 * Tokens and cost.
 */
export interface Usage {
  /**
   * Tokens sent to the model.
   */
  inputTokens: number;
  /**
   * Of these, tokens read from the cache.
   */
  cachedInputTokens: number;
  /**
   * Tokens that the model wrote.
   */
  outputTokens: number;
  /**
   * Of these, tokens of reasoning.
   */
  reasoningOutputTokens: number;
  /**
   * The model, where there was one only.
   */
  model?: string;
  /**
   * Cost in US dollars, where every part of it is known.
   */
  costUsd?: number;
}
/**
 * Bytes of the rollout that could not be read.
 */
export interface DamagedRange {
  /**
   * First byte.
   */
  fromOffset: number;
  /**
   * The byte after the last one.
   */
  toOffset: number;
  /**
   * What is wrong with them.
   */
  reason: string;
  /**
   * Where they were set aside.
   */
  quarantinePath?: string;
}
/**
 * The thread's file checkpoints in short.
 */
export interface FileCheckpointCount {
  /**
   * How many there are.
   */
  count: number;
  /**
   * The newest.
   */
  latestCheckpoint?: CheckpointSummary;
}
/**
 * One recorded change of one file.
 */
export interface CheckpointSummary {
  /**
   * Unique in its thread.
   */
  checkpointId: string;
  /**
   * Its turn; none for a restore or a capture outside one.
   */
  turnId?: string;
  /**
   * `/`-separated, relative to the workspace.
   */
  path: string;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string;
  /**
   * How it came to be known.
   */
  source: "agent" | "capture" | "external" | "restore" | "import";
  /**
   * RFC 3339, UTC, microseconds.
   */
  updatedAt: string;
  /**
   * 1, 2, 3… per path in the thread.
   */
  versionNo?: number;
  /**
   * Names the version.
   */
  versionId?: string;
  /**
   * The host's request that it belongs to.
   */
  requestId?: string;
  /**
   * As the event gave it.
   */
  title?: string;
  /**
   * As the event gave it.
   */
  kind?: string;
  /**
   * `failed`: it could not be captured.
   */
  status?: "ready" | "failed";
  /**
   * A short text for lists.
   */
  previewText?: string;
  /**
   * The version document, relative to the workspace.
   */
  snapshotPath?: string;
  /**
   * How many problems `get` would list.
   */
  validationIssueCount: number;
  /**
   * Sequence of its event.
   */
  sequence: number;
  /**
   * What happened.
   */
  op: "created" | "modified" | "deleted" | "renamed" | "external" | "restored";
  /**
   * Path before a rename.
   */
  oldPath?: string;
  /**
   * The exact one where it is not valid Unicode.
   */
  oldPathBase64?: string;
  /**
   * What the file was; null: there was none.
   */
  before: ContentReference | null;
  /**
   * What the file became; null: there is none.
   */
  after: ContentReference | null;
  /**
   * Lines added.
   */
  additions?: number;
  /**
   * Lines removed.
   */
  deletions?: number;
}
/**
 * Names the content of one side of a change.
 */
export interface ContentReference {
  /**
   * SHA-256 of the raw bytes, 64 hexadecimal digits.
   */
  sha256?: string;
  /**
   * Size of the content.
   */
  bytes?: number;
  /**
   * Such as `utf-8` or `utf-16-le`; `binary` if not text.
   */
  encoding?: string;
  /**
   * `lf`, `crlf`, `cr`, `mixed` or `none`.
   */
  eol?: string;
  /**
   * File mode, octal, such as `0644`.
   */
  mode?: string;
  /**
   * True: taken from the version before, not seen.
   */
  assumed?: boolean;
  /**
   * Whether the content can be had.
   */
  contentStatus: "available" | "missing" | "corrupt" | "tooLarge" | "unreadable" | "notCaptured";
}
/**
 * Params of agentSession/thread/resume: as thread/resume, opens the session and subscribes to it.
 */
export interface AgentSessionThreadResumeParams {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * True: `thread.turns` stays empty.
   */
  excludeTurns?: boolean | null;
  /**
   * Asks for a page of turns.
   */
  initialTurnsPage?: InitialTurnsPage | null;
  /**
   * The events after this one follow as notifications, before live ones.
   */
  afterSequence?: number | null;
}
/**
 * Which turns come with thread/resume.
 */
export interface InitialTurnsPage {
  /**
   * At most so many turns.
   */
  limit?: number | null;
  /**
   * Newest or oldest first.
   */
  sortDirection?: ("asc" | "desc") | null;
  /**
   * How much of the items comes along.
   */
  itemsView?: ("notLoaded" | "summary" | "full") | null;
}
/**
 * Result of agentSession/thread/resume: that of thread/resume, and the session.
 */
export interface AgentSessionThreadResumeResult {
  /**
   * The thread.
   */
  thread: Thread;
  /**
   * The model; "" if it was not given.
   */
  model: string;
  /**
   * Its provider; "" if it was not given.
   */
  modelProvider: string;
  /**
   * The workspace root; "" where there is none.
   */
  cwd: string;
  /**
   * As given.
   */
  runtimeWorkspaceRoots: string[];
  /**
   * Always empty: the host reads instructions.
   */
  instructionSources: string[];
  /**
   * As given, else null.
   */
  approvalPolicy: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  approvalsReviewer: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  sandbox: {
    [k: string]: unknown;
  };
  /**
   * The page that was asked for.
   */
  initialTurnsPage?: TurnsPage;
  /**
   * The session.
   */
  session: AgentSession;
  /**
   * Its turns, oldest first; empty with excludeTurns.
   */
  turns: AgentTurn[];
  /**
   * Always true.
   */
  resumed: boolean;
}
/**
 * A page of turns.
 */
export interface TurnsPage {
  /**
   * The turns.
   */
  data: Turn[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
  /**
   * Where the page before begins; null where there is none.
   */
  backwardsCursor: string | null;
}
/**
 * Params of agentSession/turn/cancel.
 */
export interface AgentSessionTurnCancelParams {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The open turn.
   */
  turnId: string;
}
/**
 * Params of agentSession/turn/start: records a turn and the user's message.
 *
 * The message is UserInput parts as in turn/start, or `{text, attachments?}`. Of the latter the text becomes a
 * text part; an attachment of kind `image` becomes an image part, any other one a mention, with its uri as path.
 */
export interface AgentSessionTurnStartParams {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * What the user says; not empty.
   */
  input: AgentInput | UserInput[];
  /**
   * Id for the new turn; one is made if absent.
   */
  turnId?: string | null;
  /**
   * Kept as `clientId` of the message's item.
   */
  clientUserMessageId?: string | null;
  /**
   * The model for this turn and the following ones.
   */
  model?: string | null;
  /**
   * Reasoning effort, as the host names it.
   */
  effort?: string | null;
  /**
   * Where the agent works in this turn; recorded only.
   */
  cwd?: string | null;
  /**
   * Taken and not used: the host runs the agent.
   */
  runtimeOptions?: {
    [k: string]: unknown;
  } | null;
  /**
   * Taken and not used: a busy thread is always -32012.
   */
  queueIfBusy?: boolean | null;
  [k: string]: unknown;
}
/**
 * Result of agentSession/turn/start.
 */
export interface AgentSessionTurnStartResult {
  /**
   * The new turn, running.
   */
  turn: AgentTurn;
}
/**
 * Params of agentSession/update. What is absent stays; fields not listed are merged into `extra`.
 */
export interface AgentSessionUpdateParams {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread's name.
   */
  title?: string | null;
  /**
   * The model's provider.
   */
  providerName?: string | null;
  /**
   * The model.
   */
  modelName?: string | null;
  /**
   * True archives the thread, false takes it out again.
   */
  archived?: boolean | null;
  [k: string]: unknown;
}
/**
 * Result of agentSession/update.
 */
export interface AgentSessionUpdateResult {
  /**
   * The session as it is now.
   */
  session: AgentSessionOverview;
}
/**
 * Params of agentSession/runtimeEvents/append: all of the events are stored, or none.
 */
export interface AppendParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * The turn of these events; an item event without one goes to the open turn.
   */
  turnId?: string | null;
  /**
   * The events, in order.
   */
  runtimeEvents?: RuntimeEventInput[] | null;
  /**
   * `sync`: answered when it is on the disk. `buffered`: within 2 s. Default sync; buffered if the request holds deltas only.
   */
  durability?: ("sync" | "buffered") | null;
}
/**
 * One event that a host reports.
 */
export interface RuntimeEventInput {
  /**
   * Type of the event; `eventType` and `event_type` are taken too.
   */
  type: string;
  /**
   * What the type says; absent is {}.
   */
  payload?: {
    [k: string]: unknown;
  } | null;
  /**
   * The host's own id: the same id with the same content is stored once.
   */
  eventId?: string | null;
  /**
   * The item that the event belongs to.
   */
  itemId?: string | null;
  /**
   * When it happened, RFC 3339; kept as the event's timestamp.
   */
  at?: string | null;
}
/**
 * Result of agentSession/runtimeEvents/append.
 */
export interface AppendResult {
  /**
   * As many as were sent, in their order.
   */
  events: AgentEvent[];
  /**
   * How many of them were stored before.
   */
  duplicates?: number;
}
/**
 * Params of artifact/read.
 */
export interface ArtifactReadParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * Only this turn.
   */
  turnId?: string | null;
  /**
   * Only this artifact.
   */
  artifactRef?: string | null;
  /**
   * Whether the contents come along.
   */
  includeContent?: boolean | null;
  /**
   * `nextCursor` of the page before.
   */
  cursor?: string | null;
  /**
   * At most so many artifacts.
   */
  limit?: number | null;
}
/**
 * Result of artifact/read.
 */
export interface ArtifactReadResult {
  /**
   * By sequence.
   */
  artifacts: Artifact[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
}
/**
 * Payload of authority.set.
 */
export interface AuthorityPayload {
  /**
   * What the agent may do in this turn.
   */
  mode: string;
  /**
   * How far the workspace is trusted.
   */
  trust?: string | null;
  /**
   * The sandbox, as the host describes it.
   */
  sandbox?: {
    [k: string]: unknown;
  };
  /**
   * What is allowed without asking, as the host describes it.
   */
  allowed?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Params of $/cancelRequest.
 */
export interface CancelParams {
  /**
   * The request to cancel, as its id was sent.
   */
  id: string | number;
}
/**
 * What happened to a file.
 */
export interface ChangeKindInput {
  /**
   * Created, deleted or changed.
   */
  type: "add" | "delete" | "update";
  /**
   * The new path of a renamed file.
   */
  move_path?: string | null;
  [k: string]: unknown;
}
/**
 * A file that the turn changed, from its state before the turn to its state after it.
 */
export interface ChangedFile {
  /**
   * The file, relative to the workspace.
   */
  path: string;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string;
  /**
   * What happened to it in all.
   */
  op: "created" | "modified" | "deleted" | "renamed" | "external" | "restored";
  /**
   * Lines added, over all of its changes.
   */
  additions?: number;
  /**
   * Lines removed, over all of its changes.
   */
  deletions?: number;
  /**
   * Content before; absent: none, or not known.
   */
  beforeSha256?: string;
  /**
   * Content after; absent: none, or not known.
   */
  afterSha256?: string;
}
/**
 * What the client can do.
 */
export interface ClientCapabilities {
  /**
   * Taken, without effect.
   */
  eventMethods?: string[] | null;
  /**
   * Taken, without effect.
   */
  experimental?: boolean | null;
  /**
   * Notifications that are not to be sent, by their exact names.
   */
  optOutNotificationMethods?: string[] | null;
  /**
   * The largest message that it can take.
   */
  maxMessageBytes?: number | null;
}
/**
 * The client.
 */
export interface ClientInfo {
  /**
   * Name of the program.
   */
  name: string;
  /**
   * Its name for people.
   */
  title?: string | null;
  /**
   * Its version.
   */
  version?: string | null;
  /**
   * The sidecar ends when this process is gone.
   */
  processId?: number | null;
  [k: string]: unknown;
}
/**
 * A command that was run.
 */
export interface CommandExecutionItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "commandExecution";
  /**
   * The command line.
   */
  command: string;
  /**
   * Where it ran.
   */
  cwd?: string | null;
  /**
   * How far it came.
   */
  status?: ("inProgress" | "completed" | "failed" | "declined") | null;
  /**
   * Who ran it: `agent`, `userShell`, …
   */
  source?: string | null;
  /**
   * What the host understood the command to do.
   */
  commandActions?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Standard output and error as they came.
   */
  aggregatedOutput?: string | null;
  /**
   * Exit code, where the command ended.
   */
  exitCode?: number | null;
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number | null;
  [k: string]: unknown;
}
/**
 * Payload of command.exited.
 */
export interface CommandExitedPayload {
  /**
   * The command's item.
   */
  itemId: string;
  /**
   * Exit code, where there is one.
   */
  exitCode?: number | null;
  /**
   * The whole output, if it was not streamed.
   */
  aggregatedOutput?: string | null;
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number | null;
  /**
   * How it ended.
   */
  status?: ("inProgress" | "completed" | "failed" | "declined") | null;
  [k: string]: unknown;
}
/**
 * Payload of command.started.
 */
export interface CommandStartedPayload {
  /**
   * The command line, or its arguments.
   */
  command: string | string[];
  /**
   * Id of the command's item; one is made if absent.
   */
  itemId?: string | null;
  /**
   * Where it runs.
   */
  cwd?: string | null;
  /**
   * Who runs it.
   */
  source?: string | null;
  /**
   * What it is understood to do.
   */
  commandActions?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  [k: string]: unknown;
}
/**
 * Payload of context.compaction.completed.
 */
export interface CompactionPayload {
  /**
   * Id of the item; one is made if absent.
   */
  itemId?: string | null;
  [k: string]: unknown;
}
/**
 * How far the work is.
 */
export interface CompletionAuditSummary {
  /**
   * From the status of the last turn; `verifying` is never said by this version.
   */
  decision: "completed" | "needs_input" | "in_progress" | "failed" | "verifying";
}
/**
 * A file that holds something the timeline does not know.
 */
export interface ConflictingFile {
  /**
   * The file, relative to the workspace.
   */
  path: string;
  /**
   * What the timeline last knew.
   */
  expectedSha256?: string;
  /**
   * What is on the disk.
   */
  actualSha256?: string;
  [k: string]: unknown;
}
/**
 * The host made the agent's context shorter here.
 */
export interface ContextCompactionItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "contextCompaction";
  [k: string]: unknown;
}
/**
 * Where everything is kept.
 */
export interface DataRoot {
  /**
   * The directory, absolute.
   */
  path: string;
  /**
   * Which rule chose it.
   */
  source: "argument" | "environment" | "platform";
  /**
   * The environment variable, if one chose it.
   */
  variable?: string;
}
/**
 * Streamed text, announced before it is stored.
 */
export interface DeltaNotification {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Its turn.
   */
  turnId: string;
  /**
   * The item that grows.
   */
  itemId: string;
  /**
   * The text to add.
   */
  delta: string;
  /**
   * Event of the segment that the text is stored in.
   */
  eventId: string;
}
/**
 * Payload of message.delta, reasoning.delta and command.output: streamed text.
 */
export interface DeltaPayload {
  /**
   * The item that grows.
   */
  itemId: string;
  /**
   * The text to add to it.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * One group of changes.
 */
export interface DiffHunk {
  /**
   * First line before.
   */
  oldStart: number;
  /**
   * How many lines before.
   */
  oldLines: number;
  /**
   * First line after.
   */
  newStart: number;
  /**
   * How many lines after.
   */
  newLines: number;
  /**
   * The lines.
   */
  lines: DiffLine[];
}
/**
 * One line of a hunk.
 */
export interface DiffLine {
  /**
   * Unchanged, added or removed.
   */
  kind: "context" | "add" | "remove";
  /**
   * The line without its end.
   */
  value: string;
  /**
   * Its number before.
   */
  oldNo?: number;
  /**
   * Its number after.
   */
  newNo?: number;
  /**
   * True: it ends without a newline.
   */
  noNewline?: boolean;
}
/**
 * What one side of a diff is, beside its lines.
 */
export interface DiffSide {
  /**
   * Size.
   */
  bytes: number;
  /**
   * `utf-8`, `utf-8-bom`, `utf-16-le`, … or `binary`.
   */
  encoding: string;
  /**
   * `lf`, `crlf`, `cr`, `mixed` or `none`; none of binary content.
   */
  eol?: string;
  /**
   * File mode, octal, where it is known.
   */
  mode?: string;
}
/**
 * A call of a tool that the host itself provides.
 */
export interface DynamicToolCallItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "dynamicToolCall";
  /**
   * Namespace of the tool.
   */
  namespace?: string | null;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * What the tool was given.
   */
  arguments?: {
    [k: string]: unknown;
  };
  /**
   * How far it came.
   */
  status?: ("inProgress" | "completed" | "failed" | "declined") | null;
  /**
   * What it returned.
   */
  contentItems?: unknown[] | null;
  /**
   * Whether the tool says that it succeeded.
   */
  success?: boolean | null;
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number | null;
  [k: string]: unknown;
}
/**
 * An empty object.
 */
export interface Empty {}
/**
 * `error.data`: the kind, and the facts that are known.
 */
export interface ErrorData {
  /**
   * Stable word to match on.
   */
  kind:
    | "alreadyInitialized"
    | "attemptsExhausted"
    | "checkpointExists"
    | "checkpointNotFound"
    | "conflict"
    | "contentUnavailable"
    | "eventConflict"
    | "internalError"
    | "invalidParams"
    | "invalidRequest"
    | "itemNotFound"
    | "messageTooLarge"
    | "methodNotFound"
    | "methodRetired"
    | "noActiveTurn"
    | "notInitialized"
    | "overloaded"
    | "parseError"
    | "pathRefused"
    | "requestCancelled"
    | "storageBusy"
    | "storageFailed"
    | "storageFull"
    | "storageReadOnly"
    | "threadArchived"
    | "threadExists"
    | "threadNotFound"
    | "tooDeep"
    | "turnActive"
    | "turnExists"
    | "turnNotActive"
    | "turnNotFound"
    | "turnTerminal"
    | "workerExists"
    | "workerNotFound"
    | "workspaceNotLinked"
    | "workspaceUnavailable";
  /**
   * invalidParams: what is wrong.
   */
  errors?: FieldProblem[];
  /**
   * methodRetired: what to call today.
   */
  replacement?: string;
  /**
   * methodNotFound, methodRetired: what was called.
   */
  method?: string;
  /**
   * internalError: finds the cause in the log.
   */
  errorId?: string;
  /**
   * The thread concerned.
   */
  threadId?: string;
  /**
   * The turn concerned.
   */
  turnId?: string;
  /**
   * The item concerned.
   */
  itemId?: string;
  /**
   * The checkpoint concerned.
   */
  checkpointId?: string;
  /**
   * The event concerned.
   */
  eventId?: string;
  /**
   * The file or directory concerned.
   */
  path?: string;
  /**
   * pathRefused, workspaceUnavailable: why.
   */
  reason?: string;
  /**
   * conflict: the files concerned.
   */
  files?: ConflictingFile[];
  /**
   * contentUnavailable: why.
   */
  contentStatus?: "available" | "missing" | "corrupt" | "tooLarge" | "unreadable" | "notCaptured";
  /**
   * storage…: what the system said, a number or a name.
   */
  errno?: {
    [k: string]: unknown;
  };
  /**
   * messageTooLarge, tooDeep: the limit.
   */
  limit?: number;
  /**
   * messageTooLarge: the method that answers in pages.
   */
  use?: string;
  /**
   * messageTooLarge: where to read on.
   */
  nextCursor?: string;
  [k: string]: unknown;
}
/**
 * One parameter that is wrong.
 */
export interface FieldProblem {
  /**
   * Dotted, as in the params, such as `runtimeEvents.2.payload.item.id`.
   */
  path: string;
  /**
   * What it must be.
   */
  message: string;
}
/**
 * What went wrong.
 */
export interface ErrorObject {
  /**
   * As the table of errors says for `data.kind`.
   */
  code: number;
  /**
   * A sentence for a person; never match on it.
   */
  message: string;
  /**
   * Stable facts to act on.
   */
  data: ErrorData;
}
/**
 * Why something failed.
 */
export interface EventError {
  /**
   * A sentence for a person.
   */
  message?: string | null;
  [k: string]: unknown;
}
/**
 * An event that no other notification covers.
 */
export interface EventNotification {
  /**
   * The event.
   */
  event: AgentEvent;
}
/**
 * Notifications of a thread were left out; read the events again from here.
 */
export interface EventsDropped {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Read on after this one with thread/events/list.
   */
  afterSequence: number;
}
/**
 * Params of evidence/export.
 */
export interface EvidenceExportParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * Only this turn.
   */
  turnId?: string | null;
  /**
   * False: `events` stays empty; the pack has them anyway.
   */
  includeEvents?: boolean | null;
  /**
   * False: `artifacts` stays empty; the pack has them anyway.
   */
  includeArtifacts?: boolean | null;
  /**
   * False: no file is written.
   */
  includeEvidencePack?: boolean | null;
  /**
   * False: secrets that are recognised stay in.
   */
  redact?: boolean | null;
}
/**
 * Result of evidence/export.
 */
export interface EvidenceExportResult {
  /**
   * The session.
   */
  session: AgentSession;
  /**
   * Its turns, oldest first.
   */
  turns: AgentTurn[];
  /**
   * Its events, without secrets unless redact is false.
   */
  events: AgentEvent[];
  /**
   * Its file versions and large outputs, without contents.
   */
  artifacts: Artifact[];
  /**
   * RFC 3339, UTC, microseconds.
   */
  exportedAt: string;
  /**
   * The pack, if one was written.
   */
  evidencePack?: EvidencePack;
}
/**
 * A pack that was written. Each export has a folder of its own; nothing is overwritten.
 */
export interface EvidencePack {
  /**
   * The folder, relative to the workspace or the data root.
   */
  packRelativeRoot: string;
  /**
   * The folder.
   */
  packAbsoluteRoot: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  exportedAt: string;
  /**
   * As `AgentSession.status`.
   */
  threadStatus: string;
  /**
   * As `AgentTurn.status`.
   */
  latestTurnStatus?: string;
  /**
   * Turns in it.
   */
  turnCount: number;
  /**
   * Items in these turns.
   */
  itemCount: number;
  /**
   * Questions to the user without an answer.
   */
  pendingRequestCount: number;
  /**
   * Always 0.
   */
  queuedTurnCount: number;
  /**
   * Length of `recentArtifacts` in its files.
   */
  recentArtifactCount: number;
  /**
   * What is missing, damaged or left out; empty: the pack is complete.
   */
  knownGaps: string[];
  /**
   * Counts.
   */
  observabilitySummary: ObservabilitySummary;
  completionAuditSummary: CompletionAuditSummary;
  /**
   * Its files.
   */
  artifacts: EvidenceFile[];
  /**
   * SHA-256 of manifest.json: who keeps it elsewhere has proof of all.
   */
  manifestSha256: string;
  /**
   * How many different secrets of each kind were left out; absent with redact false.
   */
  redactions?: {
    [k: string]: number;
  };
}
/**
 * Counts of a pack. Its names are snake_case on the wire.
 */
export interface ObservabilitySummary {
  /**
   * The form of the pack.
   */
  schema_version: "runtime-evidence-pack.v1";
  /**
   * Who made it.
   */
  source: string;
  /**
   * Events in it.
   */
  event_count: number;
  /**
   * File versions and large outputs in it.
   */
  artifact_count: number;
  /**
   * Files of the pack.
   */
  evidence_artifact_count: number;
}
/**
 * A file of an evidence pack.
 */
export interface EvidenceFile {
  /**
   * What it holds.
   */
  kind: "summary" | "runtime" | "timeline" | "artifacts" | "events" | "receipts" | "content" | "manifest";
  /**
   * Its name for a person.
   */
  title: string;
  /**
   * Relative to the workspace; without one, to the data root.
   */
  relativePath: string;
  /**
   * Where it is.
   */
  absolutePath: string;
  /**
   * Its size.
   */
  bytes: number;
}
/**
 * A file that could not be captured.
 */
export interface FailedCapture {
  /**
   * The file.
   */
  path: string;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string;
  /**
   * Why.
   */
  reason: string;
}
/**
 * A reply with an error.
 */
export interface Failure {
  /**
   * Sent if the client sends it.
   */
  jsonrpc?: "2.0";
  /**
   * The request's id; null where it could not be read.
   */
  id: string | number | null;
  error: ErrorObject;
}
/**
 * Files that were changed; a file checkpoint appears as one of these.
 */
export interface FileChangeItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "fileChange";
  /**
   * The changed files.
   */
  changes?: FileUpdateChangeInput[] | null;
  /**
   * How far it came.
   */
  status?: ("inProgress" | "completed" | "failed" | "declined") | null;
  /**
   * The file checkpoint that this item shows.
   */
  checkpointId?: string | null;
  [k: string]: unknown;
}
/**
 * One changed file of a fileChange item.
 */
export interface FileUpdateChangeInput {
  /**
   * Path of the file.
   */
  path: string;
  /**
   * What happened to it.
   */
  kind: ChangeKindInput;
  /**
   * Unified diff of the change.
   */
  diff?: string | null;
  [k: string]: unknown;
}
/**
 * What can be done with file checkpoints here.
 */
export interface FileCheckpointCapabilities {
  /**
   * Whether files can be captured.
   */
  capture: boolean;
  /**
   * Whether files can be restored.
   */
  restore: boolean;
  /**
   * Whether turns can be taken back.
   */
  rewind: boolean;
}
/**
 * Params of agentSession/fileCheckpoint/capture: reads the files now.
 */
export interface FileCheckpointCaptureParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * The turn that it belongs to.
   */
  turnId?: string | null;
  /**
   * The files, relative to the workspace or absolute inside it.
   */
  paths?: string[] | null;
  /**
   * Further ones, by the exact bytes of their names.
   */
  pathsBase64?: string[] | null;
  /**
   * Why; kept with the checkpoint.
   */
  reason?: string | null;
}
/**
 * Result of agentSession/fileCheckpoint/capture.
 */
export interface FileCheckpointCaptureResult {
  /**
   * What differed from the last version.
   */
  captured: CheckpointSummary[];
  /**
   * Paths that are as the last version.
   */
  unchanged: string[];
  /**
   * What could not be captured.
   */
  failed: FailedCapture[];
}
/**
 * Params of agentSession/fileCheckpoint/diff.
 */
export interface FileCheckpointDiffParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * The checkpoint.
   */
  checkpointId: string;
  /**
   * `previous`: what the file was before. `live`: the file on the disk. Else another checkpoint's id. Default previous.
   */
  against?: string | null;
  /**
   * Unchanged lines around each change.
   */
  contextLines?: number | null;
  /**
   * Cuts the diff; `truncated` says so.
   */
  maxBytes?: number | null;
}
/**
 * Result of agentSession/fileCheckpoint/diff.
 */
export interface FileCheckpointDiffResult {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The checkpoint.
   */
  checkpoint: CheckpointSummary;
  /**
   * The version on the new side.
   */
  currentVersionId?: string;
  /**
   * The version on the old side.
   */
  previousVersionId?: string;
  /**
   * The difference.
   */
  diff: FileDiff;
}
/**
 * How two contents differ.
 */
export interface FileDiff {
  /**
   * Form of `unified`.
   */
  format: "unified";
  /**
   * Applies with `git apply` and `patch -p1`.
   */
  unified: string;
  /**
   * The same, taken apart.
   */
  hunks: DiffHunk[];
  /**
   * Lines added.
   */
  additions: number;
  /**
   * Lines removed.
   */
  deletions: number;
  /**
   * Whether a side is not text.
   */
  binary: boolean;
  /**
   * Whether it was cut at maxBytes.
   */
  truncated: boolean;
  /**
   * True: right, but not the smallest.
   */
  approximate?: boolean;
  /**
   * True: the sides differ in encoding.
   */
  encodingChanged?: boolean;
  /**
   * True: the sides differ in line ends.
   */
  eolChanged?: boolean;
  /**
   * True: the sides differ in mode.
   */
  modeChanged?: boolean;
  /**
   * True: the sides differ in path.
   */
  renamed?: boolean;
  /**
   * The older side where it is binary or encoding, line ends or mode differ.
   */
  before?: DiffSide;
  /**
   * The newer side, likewise; null: no file there.
   */
  after?: DiffSide;
}
/**
 * Params of agentSession/fileCheckpoint/get.
 */
export interface FileCheckpointGetParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * The checkpoint.
   */
  checkpointId: string;
  /**
   * Which content. Default after, or before where only that was captured.
   */
  side?: ("before" | "after") | null;
  /**
   * At most so much content; `truncated` says if it was cut.
   */
  maxBytes?: number | null;
  /**
   * The form of the content. Default: text where it is UTF-8.
   */
  as?: ("text" | "base64") | null;
}
/**
 * Result of agentSession/fileCheckpoint/get.
 */
export interface FileCheckpointGetResult {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The checkpoint.
   */
  checkpoint: CheckpointSummary;
  /**
   * Which content this is.
   */
  side: "before" | "after";
  /**
   * Path of the file itself.
   */
  livePath: string;
  /**
   * The version document, relative to the workspace.
   */
  snapshotPath?: string;
  /**
   * The version document.
   */
  checkpointDocument?: {
    [k: string]: unknown;
  };
  /**
   * The newest version's document.
   */
  liveDocument?: {
    [k: string]: unknown;
  };
  /**
   * All versions of the path, oldest first.
   */
  versionHistory: FileVersion[];
  /**
   * What is wrong with this checkpoint, in sentences.
   */
  validationIssues: string[];
  /**
   * What the event gave besides.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * The content, where it is text.
   */
  content?: string;
  /**
   * The content, where it is not, or was asked for so.
   */
  contentBase64?: string;
  /**
   * Whether the content can be had.
   */
  contentStatus: "available" | "missing" | "corrupt" | "tooLarge" | "unreadable" | "notCaptured";
  /**
   * Whether the content was cut at maxBytes.
   */
  truncated: boolean;
  /**
   * The file on the disk, compared with this content.
   */
  liveState: "same" | "changed" | "missing" | "unreadable";
}
/**
 * One version of a file.
 */
export interface FileVersion {
  /**
   * Names the version.
   */
  id: string;
  /**
   * 1, 2, 3… per path in the thread.
   */
  versionNo: number;
  /**
   * The checkpoint that made it.
   */
  checkpointId: string;
  /**
   * SHA-256 of its content; none where there is no content.
   */
  sha256?: string;
  /**
   * Size of its content.
   */
  bytes?: number;
  /**
   * Its turn.
   */
  turnId?: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  createdAt: string;
  /**
   * What happened.
   */
  op: "created" | "modified" | "deleted" | "renamed" | "external" | "restored";
}
/**
 * Params of agentSession/fileCheckpoint/list.
 */
export interface FileCheckpointListParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * Only this file.
   */
  path?: string | null;
  /**
   * Only this file, by the exact bytes of its name.
   */
  pathBase64?: string | null;
  /**
   * Only this turn.
   */
  turnId?: string | null;
  /**
   * `nextCursor` of the page before.
   */
  cursor?: string | null;
  /**
   * At most so many checkpoints.
   */
  limit?: number | null;
}
/**
 * Result of agentSession/fileCheckpoint/list: newest first, by sequence, then by path.
 */
export interface FileCheckpointListResult {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * How many match, on all pages.
   */
  checkpointCount: number;
  /**
   * This page.
   */
  checkpoints: CheckpointSummary[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
}
/**
 * An item that has no end.
 */
export interface Gap {
  /**
   * The item.
   */
  itemId: string;
  /**
   * Why it has none.
   */
  reason: string;
}
/**
 * What the user said.
 */
export interface UserMessageItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "userMessage";
  /**
   * The parts of the message, in order.
   */
  content: UserInput[];
  /**
   * The client's own id of the message.
   */
  clientId?: string | null;
  [k: string]: unknown;
}
/**
 * A plan that the agent made.
 */
export interface PlanItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "plan";
  /**
   * The plan.
   */
  text?: string | null;
  [k: string]: unknown;
}
/**
 * What the agent thought.
 */
export interface ReasoningItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "reasoning";
  /**
   * Summaries of the reasoning.
   */
  summary?: string[] | null;
  /**
   * The reasoning itself, where it is known.
   */
  content?: string[] | null;
  [k: string]: unknown;
}
/**
 * A call of an MCP server's tool.
 */
export interface McpToolCallItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "mcpToolCall";
  /**
   * Name of the MCP server.
   */
  server: string;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * How far it came.
   */
  status?: ("inProgress" | "completed" | "failed" | "declined") | null;
  /**
   * What the tool was given.
   */
  arguments?: {
    [k: string]: unknown;
  };
  /**
   * What it returned.
   */
  result?: {
    [k: string]: unknown;
  };
  /**
   * Why it failed.
   */
  error?: {
    [k: string]: unknown;
  };
  /**
   * How long it ran, in milliseconds.
   */
  durationMs?: number | null;
  [k: string]: unknown;
}
/**
 * A search in the web.
 */
export interface WebSearchItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "webSearch";
  /**
   * What was searched for.
   */
  query?: string | null;
  /**
   * Search, open page or find in page, as the host says.
   */
  action?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * An image that the agent looked at.
 */
export interface ImageViewItemInput {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Tag of the item.
   */
  type: "imageView";
  /**
   * Path of the image.
   */
  path: string;
  [k: string]: unknown;
}
/**
 * An item of a type that this protocol does not know: stored and returned as it came.
 */
export interface OtherItem {
  /**
   * Unique in its thread, without regard to case.
   */
  id: string;
  /**
   * True if the item was cut off before its end.
   */
  interrupted?: boolean | null;
  /**
   * The whole output, where only a preview is here.
   */
  outputRef?: OutputRef | null;
  /**
   * Any other type.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * Params of conversationImport/thread/commit: starts a job. Needs sourcePath or sourceThreadId.
 */
export interface ImportCommitParams {
  /**
   * The session's file.
   */
  sourcePath?: string | null;
  /**
   * The session's id, looked for as in source/scan.
   */
  sourceThreadId?: string | null;
  /**
   * Where to look for sourceThreadId.
   */
  sourceClient?: ("codex" | "claude" | "gemini") | null;
  /**
   * Where to look for sourceThreadId.
   */
  sourceRoot?: string | null;
  /**
   * Must be true.
   */
  confirmed?: boolean | null;
  /**
   * True: a thread imported before is made anew.
   */
  replaceExisting?: boolean | null;
  /**
   * Asks for `$/progress` until the job ends.
   */
  progressToken?: string | number | null;
}
/**
 * What an import would bring.
 */
export interface ImportCounts {
  /**
   * Turns.
   */
  turns: number;
  /**
   * Items.
   */
  items: number;
  /**
   * File changes.
   */
  edits: number;
  /**
   * Lines that cannot be read.
   */
  damagedLines: number;
}
/**
 * One import.
 */
export interface ImportJob {
  /**
   * Names it in job/read.
   */
  jobId: string;
  /**
   * Whose session it is.
   */
  sourceClient: "codex" | "claude" | "gemini";
  /**
   * The session, once it is known.
   */
  sourceThreadId?: string;
  /**
   * How far it is.
   */
  status: "queued" | "running" | "completed" | "failed";
  /**
   * How far it is, in numbers.
   */
  progress: ImportProgress;
  /**
   * What it brought, once completed.
   */
  result?: ImportOutcome;
  /**
   * Why it failed: `{kind, message}`.
   */
  error?: {
    [k: string]: unknown;
  };
  /**
   * RFC 3339, UTC, microseconds.
   */
  createdAt: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  updatedAt: string;
}
/**
 * How far an import is.
 */
export interface ImportProgress {
  /**
   * What it is doing.
   */
  phase:
    | "queued"
    | "reading_source"
    | "building_history"
    | "persisting_history"
    | "finalizing"
    | "completed"
    | "failed";
  /**
   * Items done.
   */
  completedItems: number;
  /**
   * Items known.
   */
  totalItems: number;
  /**
   * Turns done.
   */
  completedTurns: number;
  /**
   * Turns known.
   */
  totalTurns: number;
}
/**
 * What an import brought.
 */
export interface ImportOutcome {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Turns that are new.
   */
  turns: number;
  /**
   * Items that are new.
   */
  items: number;
  /**
   * File checkpoints that are new.
   */
  checkpoints: number;
  /**
   * Lines that hold nothing to keep.
   */
  skipped: number;
  /**
   * Lines that could not be read.
   */
  damaged: number;
  /**
   * Items that are left out, since other threads of the conversation have them.
   */
  sharedItems?: number;
  /**
   * The thread that this one goes on from: the session began with a copy of its lines.
   */
  forkedFromId?: string;
}
/**
 * Params of conversationImport/job/cancel. A job that has ended is answered as it is.
 */
export interface ImportJobCancelParams {
  /**
   * The job.
   */
  jobId: string;
}
/**
 * Params of conversationImport/job/read.
 */
export interface ImportJobReadParams {
  /**
   * The job.
   */
  jobId: string;
}
/**
 * Result of conversationImport/thread/commit, job/read and job/cancel.
 */
export interface ImportJobResult {
  /**
   * The job.
   */
  job: ImportJob;
}
/**
 * Params of conversationImport/thread/preview. Nothing is written.
 */
export interface ImportPreviewParams {
  /**
   * The session's file.
   */
  sourcePath: string;
  /**
   * At most so many messages.
   */
  limit?: number | null;
}
/**
 * Result of conversationImport/thread/preview.
 */
export interface ImportPreviewResult {
  /**
   * Whose session it is.
   */
  source: ImportSource;
  /**
   * The session.
   */
  thread: SourceThread;
  summary: ImportCounts;
  /**
   * The first messages.
   */
  messages: PreviewMessage[];
}
/**
 * Where sessions were looked for.
 */
export interface ImportSource {
  /**
   * Whose sessions, where one was asked for.
   */
  sourceClient?: "codex" | "claude" | "gemini";
  /**
   * The directory.
   */
  sourceRoot?: string;
  /**
   * `missing`: there is no such directory.
   */
  status: "ready" | "missing";
}
/**
 * A session that another tool wrote.
 */
export interface SourceThread {
  /**
   * The tool that wrote it.
   */
  sourceClient: "codex" | "claude" | "gemini";
  /**
   * Its id there; becomes the thread's id.
   */
  sourceThreadId: string;
  /**
   * Its file.
   */
  sourcePath: string;
  /**
   * Its name, or the beginning of its first message.
   */
  title?: string;
  /**
   * The directory it worked in.
   */
  projectPath?: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  createdAt?: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  updatedAt: string;
  /**
   * Size of its file.
   */
  bytes: number;
  /**
   * The thread here, if it was imported.
   */
  importedThreadId?: string;
}
/**
 * A message of the session.
 */
export interface PreviewMessage {
  /**
   * Who speaks.
   */
  role: "user" | "assistant";
  /**
   * What is said.
   */
  text: string;
  /**
   * In which turn.
   */
  turnId?: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  createdAt?: string;
}
/**
 * How far the index is; it grows on while nobody asks.
 */
export interface Indexing {
  /**
   * How many of the threads that are searched are in the index up to their end.
   */
  done: number;
  /**
   * How many there are.
   */
  total: number;
}
/**
 * Params of initialize: the first request of a connection.
 */
export interface InitializeParams {
  clientInfo: ClientInfo;
  /**
   * What the client can do.
   */
  capabilities?: ClientCapabilities | null;
  /**
   * The version that the client speaks.
   */
  protocolVersion?: string | null;
}
/**
 * Result of initialize.
 */
export interface InitializeResult {
  serverInfo: ServerInfo;
  platform: Platform;
  /**
   * What it can do.
   */
  capabilities: ServerCapabilities;
  dataRoot: DataRoot;
  /**
   * Names this run of the process.
   */
  bootId: string;
  /**
   * The SQLite that is inside.
   */
  sqliteVersion: string;
}
/**
 * This program.
 */
export interface ServerInfo {
  /**
   * What existing clients expect.
   */
  name: "app-server";
  /**
   * Its name for people.
   */
  title: string;
  /**
   * Its version.
   */
  version: string;
  /**
   * The version of the protocol.
   */
  protocolVersion: "appserver.v0";
}
/**
 * The machine.
 */
export interface Platform {
  /**
   * What existing clients expect.
   */
  family: "desktop";
  /**
   * `linux`, `macos` or `windows`.
   */
  os: string;
}
/**
 * What the sidecar can do.
 */
export interface ServerCapabilities {
  /**
   * `agentSession/*`.
   */
  agentSession: boolean;
  /**
   * That this reply lists capabilities.
   */
  capabilityDiscovery: boolean;
  /**
   * `artifact/read`.
   */
  artifact: boolean;
  /**
   * `evidence/*`.
   */
  evidence: boolean;
  /**
   * `workspace/*`: not offered.
   */
  workspace: boolean;
  /**
   * `agentSession/fileCheckpoint/*`.
   */
  fileCheckpoint: FileCheckpointCapabilities;
  /**
   * `thread/replay`.
   */
  threadReplay: boolean;
  /**
   * `thread/search`.
   */
  threadSearch: boolean;
  /**
   * Tools whose sessions can be imported.
   */
  conversationImport: string[];
}
/**
 * Why the turn was cut off.
 */
export interface Interruption {
  /**
   * What happened.
   */
  reason: string;
  /**
   * The process that served the turn.
   */
  bootId?: string;
}
/**
 * An item is whole. It was announced as started before.
 */
export interface ItemCompleted {
  /**
   * The item.
   */
  item: ThreadItem;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Its turn.
   */
  turnId: string;
  /**
   * Unix milliseconds.
   */
  completedAtMs: number;
  /**
   * Sequence of the event.
   */
  sequence: number;
}
/**
 * Payload of item.started, item.updated and item.completed.
 */
export interface ItemPayload {
  /**
   * The item as a whole; missing fields get their defaults.
   */
  item: HostItem;
  [k: string]: unknown;
}
/**
 * An item began.
 */
export interface ItemStarted {
  /**
   * The item as far as it is known.
   */
  item: ThreadItem;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Its turn.
   */
  turnId: string;
  /**
   * Unix milliseconds.
   */
  startedAtMs: number;
  /**
   * Sequence of the event; absent where streamed text, not stored yet, began the item.
   */
  sequence?: number;
  /**
   * In that case: event of the segment of that text.
   */
  eventId?: string;
}
/**
 * Payload of message.created.
 */
export interface MessagePayload {
  /**
   * Who speaks.
   */
  role: "user" | "assistant";
  /**
   * A text, or parts with `type` and `text`.
   */
  content:
    | string
    | {
        [k: string]: unknown;
      }[];
  /**
   * Id of the message's item; one is made if absent.
   */
  itemId?: string | null;
  /**
   * The client's own id of the message.
   */
  clientId?: string | null;
  [k: string]: unknown;
}
/**
 * Something that is not what it was when the export was made.
 */
export interface Mismatch {
  /**
   * What differs.
   */
  kind: "file" | "expectation" | "event" | "item" | "turn" | "checkpoint" | "thread" | "content" | "projection";
  /**
   * Which: a file's name, a sequence, an id, or a sha256.
   */
  id: string;
  /**
   * What was recorded: a digest, a sum, or a word.
   */
  expected: string;
  /**
   * What is there now.
   */
  actual: string;
}
/**
 * No params.
 */
export interface NoParams {}
/**
 * A call that is not answered.
 */
export interface Notification {
  /**
   * May be left out.
   */
  jsonrpc?: "2.0" | null;
  /**
   * One of the registry.
   */
  method: string;
  /**
   * Null and absent are {}.
   */
  params?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A payload whose further fields are kept.
 */
export interface OpenPayload {
  [k: string]: unknown;
}
/**
 * A file that held something the timeline did not know.
 */
export interface OverwrittenFile {
  /**
   * The file, relative to the workspace.
   */
  path: string;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string;
  /**
   * What the timeline last knew.
   */
  expectedSha256?: string;
  /**
   * What was on the disk.
   */
  actualSha256?: string;
  /**
   * `changed`, `backup`, or why it cannot be read.
   */
  reason?: string;
}
/**
 * Payload of patch.applied, patch.failed and patch.declined.
 */
export interface PatchEndedPayload {
  /**
   * The patch's item.
   */
  itemId: string;
  /**
   * What was changed, if it differs.
   */
  changes?: FileUpdateChangeInput[] | null;
  /**
   * Why the patch failed.
   */
  error?: string | EventError | null;
  [k: string]: unknown;
}
/**
 * Payload of patch.started.
 */
export interface PatchStartedPayload {
  /**
   * What the patch is to change.
   */
  changes: FileUpdateChangeInput[];
  /**
   * Id of the patch's item; one is made if absent.
   */
  itemId?: string | null;
  [k: string]: unknown;
}
/**
 * Payload of plan.final.
 */
export interface PlanPayload {
  /**
   * The plan.
   */
  text: string;
  /**
   * Id of the plan's item; one is made if absent.
   */
  itemId?: string | null;
  [k: string]: unknown;
}
/**
 * What a restore does, or would do, to one file.
 */
export interface PlannedFile {
  /**
   * The file, relative to the workspace.
   */
  path: string;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string;
  /**
   * `conflict` and `unavailable` refuse the whole act, unless `paths` leaves the file out.
   */
  action: "write" | "delete" | "keep" | "conflict" | "unavailable";
  /**
   * What is on the disk; none where there is no file.
   */
  fromSha256?: string;
  /**
   * What is to be there; none where no file is to be.
   */
  toSha256?: string;
  /**
   * Why: `changed`, `backup`, `firstSeen`, `readOnly`, a contentStatus, or why the path is refused.
   */
  reason?: string;
}
/**
 * A process on the same data root.
 */
export interface ProcessEntry {
  /**
   * Its process id.
   */
  pid: number;
  /**
   * Its boot.
   */
  bootId: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  startedAt: string;
}
/**
 * Progress of a request that carried a progressToken.
 */
export interface Progress {
  /**
   * The request's progressToken.
   */
  token: string | number;
  /**
   * How far it is.
   */
  value: ProgressValue;
}
/**
 * How far a request is.
 */
export interface ProgressValue {
  /**
   * Beginning, middle or end.
   */
  kind: "begin" | "report" | "end";
  /**
   * A sentence for a person.
   */
  message?: string;
  /**
   * 0 to 100.
   */
  percentage?: number;
  /**
   * How many are done.
   */
  current?: number;
  /**
   * How many there are.
   */
  total?: number;
}
/**
 * Payload of reasoning.final.
 */
export interface ReasoningPayload {
  /**
   * Id of the item; one is made if absent.
   */
  itemId?: string | null;
  /**
   * The reasoning as one text.
   */
  text?: string | null;
  /**
   * Summaries of the reasoning.
   */
  summary?: string[] | null;
  /**
   * The reasoning itself.
   */
  content?: string[] | null;
  [k: string]: unknown;
}
/**
 * What a turn did. The same bytes after a restart or a rebuild.
 */
export interface Receipt {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn.
   */
  turnId: string;
  /**
   * How it ended, or that it is open.
   */
  status: "inProgress" | "completed" | "interrupted" | "failed";
  /**
   * RFC 3339, UTC, microseconds.
   */
  startedAt: string | null;
  /**
   * RFC 3339, UTC, microseconds; null while it is open.
   */
  completedAt: string | null;
  /**
   * Milliseconds by the sidecar's clock.
   */
  durationMs: number | null;
  /**
   * Provider, model and wire format.
   */
  route?: {
    [k: string]: unknown;
  };
  /**
   * What its agent was allowed to do.
   */
  authority?: {
    [k: string]: unknown;
  };
  /**
   * Tokens.
   */
  usage?: Usage;
  /**
   * US dollars, if every request's cost is known.
   */
  cost: number | "unknown";
  counts: ReceiptCounts;
  /**
   * By path.
   */
  filesChanged: ChangedFile[];
  /**
   * File versions and large outputs, without contents.
   */
  artifacts: Artifact[];
  /**
   * Workers that were started in the turn, in that order.
   */
  workers: ReceiptWorker[];
  /**
   * Warnings that the host reported.
   */
  diagnostics: string[];
  /**
   * Items without an end.
   */
  gaps: Gap[];
  /**
   * Why it was cut off.
   */
  interruption?: Interruption;
  /**
   * Fields that no fact proves.
   */
  unavailable: string[];
  /**
   * First and last sequence of the turn's events.
   */
  sequenceRange: number[];
  /**
   * Sum of the turn's last line.
   */
  rolloutSum: string;
}
/**
 * How much there was of each.
 */
export interface ReceiptCounts {
  /**
   * Items.
   */
  items: number;
  /**
   * Tool calls.
   */
  toolCalls: number;
  /**
   * Commands.
   */
  commands: number;
  /**
   * Questions to the user.
   */
  approvals: number;
  /**
   * File checkpoints.
   */
  fileCheckpoints: number;
  /**
   * Workers.
   */
  workers: number;
}
/**
 * A worker, as its events left it.
 */
export interface ReceiptWorker {
  /**
   * The worker.
   */
  workerId: string;
  /**
   * What sort of worker it was.
   */
  kind: string;
  /**
   * How it ended, if it did.
   */
  status: "active" | "completed" | "failed" | "cancelled" | "interrupted";
  /**
   * Its last attempt.
   */
  attempt: number;
  /**
   * How many it might have had.
   */
  maxAttempts: number;
  /**
   * RFC 3339, UTC, microseconds.
   */
  startedAt: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  finishedAt?: string;
}
/**
 * Params of turn/receipt/read.
 */
export interface ReceiptReadParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn.
   */
  turnId: string;
}
/**
 * Params of agentSession/replayCase/export.
 */
export interface ReplayCaseExportParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * Kept in the case for whoever replays it.
   */
  locale?: string | null;
  /**
   * False: secrets that are recognised stay in.
   */
  redact?: boolean | null;
}
/**
 * Result of agentSession/replayCase/export. The folder is self-contained and can be moved.
 */
export interface ReplayCaseExportResult {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread: the same id.
   */
  threadId: string;
  /**
   * As agentSession/start gave it.
   */
  workspaceId?: string;
  /**
   * The workspace; "" if there is none.
   */
  workspaceRoot: string;
  /**
   * The case's folder, relative to workspace or data root.
   */
  replayRelativeRoot: string;
  /**
   * The case's folder.
   */
  replayAbsoluteRoot: string;
  /**
   * The folder to hand on: the case's own.
   */
  handoffBundleRelativeRoot: string;
  /**
   * Where evidence packs of the thread are, if there are any.
   */
  evidencePackRelativeRoot: string;
  /**
   * RFC 3339, UTC, microseconds.
   */
  exportedAt: string;
  /**
   * As `AgentSession.status`.
   */
  threadStatus: string;
  /**
   * As `AgentTurn.status`.
   */
  latestTurnStatus?: string;
  /**
   * Questions to the user without an answer.
   */
  pendingRequestCount: number;
  /**
   * Always 0.
   */
  queuedTurnCount: number;
  /**
   * Always 0: nothing but the case is handed on.
   */
  linkedHandoffArtifactCount: number;
  /**
   * How many artifacts evidence-links.json names.
   */
  linkedEvidenceArtifactCount: number;
  /**
   * Length of `recentArtifacts` in input.json.
   */
  recentArtifactCount: number;
  /**
   * How many different secrets of each kind were left out; absent with redact false.
   */
  redactions?: {
    [k: string]: number;
  };
  /**
   * The files of the case.
   */
  artifacts: ReplayCaseFile[];
}
/**
 * A file of a replay case.
 */
export interface ReplayCaseFile {
  /**
   * What it holds.
   */
  kind: "input" | "expected" | "grader" | "evidence_links" | "events" | "content";
  /**
   * Its name for a person.
   */
  title: string;
  /**
   * Relative to the workspace; without one, to the data root.
   */
  relativePath: string;
  /**
   * Where it is.
   */
  absolutePath: string;
  /**
   * Its size.
   */
  bytes: number;
}
/**
 * Params of agentSession/replayCase/verify.
 */
export interface ReplayCaseVerifyParams {
  /**
   * The folder of a replay case or of an evidence pack, absolute.
   */
  path: string;
}
/**
 * Result of agentSession/replayCase/verify.
 */
export interface ReplayCaseVerifyResult {
  /**
   * Whether everything is as it was.
   */
  ok: boolean;
  /**
   * Digest of what the events give when reduced again; "" if they do not.
   */
  projectionDigest: string;
  /**
   * The digest that was recorded; "" if it cannot be read.
   */
  expectedDigest: string;
  /**
   * How many items the events give.
   */
  itemCount: number;
  /**
   * What differs; at most 1,000 of them.
   */
  mismatches: Mismatch[];
}
/**
 * A call that is answered.
 */
export interface Request {
  /**
   * May be left out; replies then do without, too.
   */
  jsonrpc?: "2.0" | null;
  /**
   * Echoed in the reply, with its type.
   */
  id: string | number;
  /**
   * One of the registry.
   */
  method: string;
  /**
   * Null and absent are {}.
   */
  params?: {
    [k: string]: unknown;
  } | null;
}
/**
 * Params of agentSession/fileCheckpoint/restore.
 */
export interface RestoreParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * The checkpoint.
   */
  checkpointId: string;
  /**
   * What it left, or what it found.
   */
  side?: ("before" | "after") | null;
  /**
   * Must be true, unless dryRun.
   */
  confirmRestore?: boolean | null;
  /**
   * Whether `backupPath` is told. The bytes that are replaced are kept in any case.
   */
  createBackup?: boolean | null;
  /**
   * `backup`: record unknown bytes as a version, then go on.
   */
  onConflict?: ("refuse" | "backup") | null;
  /**
   * Plan only; changes nothing.
   */
  dryRun?: boolean | null;
}
/**
 * Result of agentSession/fileCheckpoint/restore.
 */
export interface RestoreResult {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The checkpoint that was restored.
   */
  checkpoint: CheckpointSummary;
  /**
   * Path of the file itself.
   */
  livePath: string;
  /**
   * The version document, relative to the workspace.
   */
  snapshotPath?: string;
  /**
   * Where the replaced bytes are kept: in the workspace relative to it, else absolute.
   */
  backupPath?: string;
  /**
   * RFC 3339, UTC, microseconds; none of a dry run.
   */
  restoredAt?: string;
  /**
   * The checkpoint of this restore, for undo.
   */
  restoreCheckpointId?: string;
  /**
   * What was there, if the timeline knew it not.
   */
  conflict?: OverwrittenFile;
  /**
   * What was done, or would be, to each file; a rename has two.
   */
  plan: PlannedFile[];
}
/**
 * Params of agentSession/fileCheckpoint/rewind.
 */
export interface RewindParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * The turn.
   */
  toTurnId: string;
  /**
   * `after`: the files as that turn left them. `before`: as its first edit of each found it.
   */
  position?: ("before" | "after") | null;
  /**
   * Only these files, or what is under these folders. What was both is the file; `x/` is the folder.
   */
  paths?: string[] | null;
  /**
   * The same, by the exact bytes of their names.
   */
  pathsBase64?: string[] | null;
  /**
   * Must be true, unless dryRun.
   */
  confirmRestore?: boolean | null;
  /**
   * `backup`: record unknown bytes as versions, then go on.
   */
  onConflict?: ("refuse" | "backup") | null;
  /**
   * Plan only; changes nothing.
   */
  dryRun?: boolean | null;
  /**
   * Roll the conversation back in the same act.
   */
  conversation?: boolean | null;
}
/**
 * Result of agentSession/fileCheckpoint/rewind and undo: all files or none.
 */
export interface RewindResult {
  /**
   * What was done, or would be, to each file.
   */
  plan: PlannedFile[];
  /**
   * False for a dry run.
   */
  applied: boolean;
  /**
   * Names this act, for undo.
   */
  rewindId: string;
}
/**
 * Payload of route.selected.
 */
export interface RoutePayload {
  /**
   * The provider that serves the turn.
   */
  provider: string;
  /**
   * The model that serves the turn.
   */
  model: string;
  /**
   * The provider's protocol.
   */
  wireFormat?: string | null;
  [k: string]: unknown;
}
/**
 * An item, or a thread's title, that was found.
 */
export interface SearchHit {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn; none for a title and for what is in no turn.
   */
  turnId?: string;
  /**
   * The item; none for a title.
   */
  itemId?: string;
  /**
   * The part of its text that shows best what was found, on one line.
   */
  snippet: string;
  /**
   * Where in the snippet it was found: [start, end) in UTF-16 units.
   */
  ranges: [number, number][];
  /**
   * How well it fits; higher is better. Comparable within one answer.
   */
  score: number;
}
/**
 * Result of server/status.
 */
export interface ServerStatusResult {
  /**
   * Names this run of the process.
   */
  bootId: string;
  /**
   * Milliseconds since it started.
   */
  uptimeMs: number;
  /**
   * Its version.
   */
  version: string;
  /**
   * Where everything is kept.
   */
  dataRoot: string;
  /**
   * Appends that wait for the disk.
   */
  pendingWrites: number;
  /**
   * Bytes of rollouts that the projection has not read yet.
   */
  projectionLag: number;
  /**
   * Threads that are open in this process.
   */
  openThreads: number;
  /**
   * Processes on this data root, this one too.
   */
  processes: ProcessEntry[];
}
/**
 * Params of session.create: those of thread/start.
 */
export interface SessionCreateParams {
  /**
   * The workspace root, absolute. Without one, file contents must come in the events.
   */
  cwd?: string | null;
  /**
   * The model that the host uses.
   */
  model?: string | null;
  /**
   * The provider of the model.
   */
  modelProvider?: string | null;
  /**
   * Further roots; recorded only.
   */
  runtimeWorkspaceRoots?: string[] | null;
  /**
   * True: keep it in memory only.
   */
  ephemeral?: boolean | null;
  /**
   * What started it; returned as given.
   */
  threadSource?: {
    [k: string]: unknown;
  };
  /**
   * Name of the host's service.
   */
  serviceName?: string | null;
  /**
   * A name for people.
   */
  name?: string | null;
  /**
   * Id for the new session; one is made if absent.
   */
  threadId?: string | null;
  /**
   * The repository of the workspace.
   */
  gitInfo?: GitInfoInput | null;
  [k: string]: unknown;
}
/**
 * Params of session.fork: those of thread/fork.
 */
export interface SessionForkParams {
  /**
   * The session to fork; it is not changed.
   */
  threadId: string;
  /**
   * The last turn that the fork has.
   */
  lastTurnId?: string | null;
  /**
   * The first turn that the fork does not have.
   */
  beforeTurnId?: string | null;
  /**
   * True: `thread.turns` stays empty.
   */
  excludeTurns?: boolean | null;
  /**
   * A name for the fork.
   */
  name?: string | null;
  /**
   * Another workspace root.
   */
  cwd?: string | null;
}
/**
 * Params of session.list: those of thread/list.
 */
export interface SessionListParams {
  /**
   * `nextCursor` or `backwardsCursor` of another page.
   */
  cursor?: string | null;
  /**
   * At most so many threads.
   */
  limit?: number | null;
  /**
   * The order, by microseconds, then by creation.
   */
  sortKey?: ("created_at" | "updated_at" | "recency_at") | null;
  /**
   * Newest or oldest first.
   */
  sortDirection?: ("asc" | "desc") | null;
  /**
   * Only these providers; empty is all.
   */
  modelProviders?: string[] | null;
  /**
   * Only these sources; empty is all.
   */
  sourceKinds?: string[] | null;
  /**
   * True: only archived ones; false: only others.
   */
  archived?: boolean | null;
  /**
   * Only threads of these workspaces, however the path is spelled.
   */
  cwd?: string | string[] | null;
  /**
   * Only threads whose name or preview contains it.
   */
  searchTerm?: string | null;
  /**
   * Only children of this thread.
   */
  parentThreadId?: string | null;
  /**
   * Only descendants of this thread.
   */
  ancestorThreadId?: string | null;
}
/**
 * Params of session.archive and session.delete: those of thread/archive and thread/delete.
 */
export interface SessionParams {
  /**
   * The session.
   */
  threadId: string;
}
/**
 * Params of session.rename: those of thread/name/set.
 */
export interface SessionRenameParams {
  /**
   * The session.
   */
  threadId: string;
  /**
   * Its name for people.
   */
  name: string;
}
/**
 * Params of session.resume: those of thread/resume.
 */
export interface SessionResumeParams {
  /**
   * The session.
   */
  threadId: string;
  /**
   * True: `thread.turns` stays empty.
   */
  excludeTurns?: boolean | null;
  /**
   * Asks for a page of turns.
   */
  initialTurnsPage?: InitialTurnsPage | null;
  /**
   * The events after this one follow as notifications, before live ones.
   */
  afterSequence?: number | null;
}
/**
 * What a snapshot says about one file. Each name is also taken in snake_case.
 */
export interface SnapshotFields {
  /**
   * Path in the workspace; inside it also absolute.
   */
  path?: string | null;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string | null;
  /**
   * What happened; worked out from the contents if absent.
   */
  op?: ("created" | "modified" | "deleted" | "renamed") | null;
  /**
   * Path before a rename.
   */
  oldPath?: string | null;
  /**
   * The exact path before a rename.
   */
  oldPathBase64?: string | null;
  /**
   * The file's text now; read from the disk if absent.
   */
  content?: string | null;
  /**
   * The file's bytes now.
   */
  contentBase64?: string | null;
  /**
   * The file's text before; `beforeContent` and `oldContent` are taken too.
   */
  previousContent?: string | null;
  /**
   * The file's bytes before.
   */
  previousContentBase64?: string | null;
  /**
   * True: there was no such file before.
   */
  beforeAbsent?: boolean | null;
  /**
   * True: what was there before is not known, and nothing is to be assumed.
   */
  beforeNotCaptured?: boolean | null;
  /**
   * True: what the file became is not known, and the disk is not to be read.
   */
  afterNotCaptured?: boolean | null;
  /**
   * Unified diff of the change, where no contents are known.
   */
  diff?: string | null;
  /**
   * File mode, octal, such as `0644`.
   */
  mode?: string | null;
  /**
   * The host's own id of the checkpoint.
   */
  checkpointId?: string | null;
  /**
   * Kept as metadata; places nothing.
   */
  artifactId?: string | null;
  /**
   * Title for people.
   */
  title?: string | null;
  /**
   * What sort of document it is.
   */
  kind?: string | null;
  /**
   * A short text for lists.
   */
  preview?: string | null;
  /**
   * The host's own document, kept in the version document.
   */
  document?: {
    [k: string]: unknown;
  };
  /**
   * Anything else; kept and returned.
   */
  metadata?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Payload of artifact.snapshot and file.changed: the only way a file version enters.
 */
export interface SnapshotPayload {
  /**
   * Path in the workspace; inside it also absolute.
   */
  path?: string | null;
  /**
   * The exact path where its name is not valid Unicode.
   */
  pathBase64?: string | null;
  /**
   * What happened; worked out from the contents if absent.
   */
  op?: ("created" | "modified" | "deleted" | "renamed") | null;
  /**
   * Path before a rename.
   */
  oldPath?: string | null;
  /**
   * The exact path before a rename.
   */
  oldPathBase64?: string | null;
  /**
   * The file's text now; read from the disk if absent.
   */
  content?: string | null;
  /**
   * The file's bytes now.
   */
  contentBase64?: string | null;
  /**
   * The file's text before; `beforeContent` and `oldContent` are taken too.
   */
  previousContent?: string | null;
  /**
   * The file's bytes before.
   */
  previousContentBase64?: string | null;
  /**
   * True: there was no such file before.
   */
  beforeAbsent?: boolean | null;
  /**
   * True: what was there before is not known, and nothing is to be assumed.
   */
  beforeNotCaptured?: boolean | null;
  /**
   * True: what the file became is not known, and the disk is not to be read.
   */
  afterNotCaptured?: boolean | null;
  /**
   * Unified diff of the change, where no contents are known.
   */
  diff?: string | null;
  /**
   * File mode, octal, such as `0644`.
   */
  mode?: string | null;
  /**
   * The host's own id of the checkpoint.
   */
  checkpointId?: string | null;
  /**
   * Kept as metadata; places nothing.
   */
  artifactId?: string | null;
  /**
   * Title for people.
   */
  title?: string | null;
  /**
   * What sort of document it is.
   */
  kind?: string | null;
  /**
   * A short text for lists.
   */
  preview?: string | null;
  /**
   * The host's own document, kept in the version document.
   */
  document?: {
    [k: string]: unknown;
  };
  /**
   * Anything else; kept and returned.
   */
  metadata?: {
    [k: string]: unknown;
  } | null;
  /**
   * The same fields, nested.
   */
  artifact?: SnapshotFields | null;
  /**
   * The same fields, nested.
   */
  change?: SnapshotFields | null;
  [k: string]: unknown;
}
/**
 * Params of conversationImport/source/scan.
 */
export interface SourceScanParams {
  /**
   * Whose sessions to look for. Default: all.
   */
  sourceClient?: ("codex" | "claude" | "gemini") | null;
  /**
   * Where to look. Default: where the tools keep them.
   */
  sourceRoot?: string | null;
  /**
   * Only sessions of this directory.
   */
  projectPath?: string | null;
  /**
   * Only sessions whose title, project or id contains it.
   */
  query?: string | null;
  /**
   * Whether archived sessions count.
   */
  includeArchived?: boolean | null;
  /**
   * At most so many sessions.
   */
  limit?: number | null;
  /**
   * `nextCursor` of the page before.
   */
  cursor?: string | null;
}
/**
 * Result of conversationImport/source/scan: the last updated first.
 */
export interface SourceScanResult {
  source: ImportSource;
  /**
   * This page.
   */
  threads: SourceThread[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
}
/**
 * A file or folder that nothing refers to.
 */
export interface StorageCandidate {
  /**
   * Where it is.
   */
  path: string;
  /**
   * Its size.
   */
  bytes: number;
  /**
   * `unreferenced`: a content that no thread names; `unfinished`: left by a write that was cut off; `threadGone`: version documents of a thread that was deleted.
   */
  reason: "unreferenced" | "unfinished" | "threadGone";
}
/**
 * One kind of what is stored.
 */
export interface StorageClass {
  /**
   * `artifacts` are contents in the data root, `workspaces` those in workspaces.
   */
  name:
    | "sessions"
    | "archivedSessions"
    | "database"
    | "artifacts"
    | "exports"
    | "quarantine"
    | "trash"
    | "journal"
    | "log"
    | "workspaces";
  /**
   * Bytes of its files.
   */
  bytes: number;
  /**
   * How many files.
   */
  files: number;
  /**
   * When the oldest was changed last: RFC 3339, UTC.
   */
  oldest?: string;
  /**
   * When the newest was changed last.
   */
  newest?: string;
}
/**
 * The projection, which can be made anew from the rollouts.
 */
export interface StorageDatabase {
  /**
   * Its file.
   */
  path: string;
  /**
   * Size of the file.
   */
  bytes: number;
  /**
   * Size of a page.
   */
  pageBytes: number;
  /**
   * How many pages.
   */
  pages: number;
  /**
   * How many of them hold nothing; storage/gc gives them back.
   */
  freePages: number;
  /**
   * Size of the write-ahead log beside it.
   */
  walBytes: number;
}
/**
 * Something that is not as it should be.
 */
export interface StorageDifference {
  /**
   * `damage`: bytes of a rollout that are no sound line; `projection`: a row that is not what the rollout gives; `content`: a file version or output that cannot be had; `rollout`: a file that cannot be read.
   */
  kind: "damage" | "projection" | "content" | "rollout";
  /**
   * The thread.
   */
  threadId?: string;
  /**
   * What is wrong: a stable word.
   */
  reason: string;
  /**
   * Of damage: its first byte.
   */
  fromOffset?: number;
  /**
   * Of damage: the byte after its last.
   */
  toOffset?: number;
  /**
   * Of damage: recovery has recorded it, and reads tell of it.
   */
  told?: boolean;
  /**
   * Of the projection: the table.
   */
  table?: string;
  /**
   * Of the projection: which row.
   */
  key?: string;
  /**
   * Of a content: its hash.
   */
  sha256?: string;
}
/**
 * Params of storage/gc.
 */
export interface StorageGcParams {
  /**
   * False: remove the candidates.
   */
  dryRun?: boolean | null;
  /**
   * Only what was changed last so many days ago; never what is younger than an hour.
   */
  olderThanDays?: number | null;
  /**
   * No more bytes than this, the oldest first.
   */
  maxBytes?: number | null;
}
/**
 * Result of storage/gc.
 */
export interface StorageGcResult {
  /**
   * Whether nothing was removed.
   */
  dryRun: boolean;
  /**
   * What can be removed, or was; at most 1,000 are listed.
   */
  candidates: StorageCandidate[];
  /**
   * How many there are.
   */
  candidateCount: number;
  /**
   * Their bytes.
   */
  candidateBytes: number;
  /**
   * How many were removed.
   */
  removed: number;
  /**
   * Their bytes, and what the database gave back.
   */
  freedBytes: number;
  /**
   * Workspaces that could not be looked at.
   */
  skipped: StorageSkipped[];
}
/**
 * A place that was left alone.
 */
export interface StorageSkipped {
  /**
   * Where.
   */
  path: string;
  /**
   * Why, for a person.
   */
  reason: string;
}
/**
 * Params of storage/rebuild.
 */
export interface StorageRebuildParams {}
/**
 * Result of storage/rebuild. Every answer is as before, byte for byte.
 */
export interface StorageRebuildResult {
  /**
   * How many threads the new projection has.
   */
  threads: number;
  /**
   * How many of them an earlier attempt, which was cut off, had read already.
   */
  resumed: number;
  /**
   * Size of the new projection.
   */
  bytes: number;
}
/**
 * Params of storage/report.
 */
export interface StorageReportParams {
  /**
   * How many threads are listed, the largest first.
   */
  threadLimit?: number | null;
}
/**
 * Result of storage/report.
 */
export interface StorageReportResult {
  /**
   * Where everything is kept.
   */
  dataRoot: string;
  /**
   * All bytes of all classes.
   */
  bytes: number;
  /**
   * All files.
   */
  files: number;
  /**
   * By kind.
   */
  classes: StorageClass[];
  /**
   * How many threads there are.
   */
  threadCount: number;
  /**
   * The largest threads.
   */
  threads: StorageThread[];
  /**
   * Absent where it is kept in memory only.
   */
  database?: StorageDatabase;
  /**
   * Contents in the data root and in workspaces that no thread refers to.
   */
  orphans: StorageSum;
  /**
   * File versions kept a second time, in the data root.
   */
  safetyCopies: StorageSafetyCopies;
}
/**
 * What one thread takes.
 */
export interface StorageThread {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Whether it is archived.
   */
  archived: boolean;
  /**
   * Bytes of its rollout.
   */
  bytes: number;
  /**
   * Its last sequence.
   */
  events: number;
  /**
   * How many contents it refers to: file versions and large outputs.
   */
  contents: number;
  /**
   * When it was created.
   */
  oldest: string;
  /**
   * When it was updated last.
   */
  newest: string;
}
/**
 * So many files.
 */
export interface StorageSum {
  /**
   * Their bytes.
   */
  bytes: number;
  /**
   * How many.
   */
  files: number;
}
/**
 * Contents of the data root, most of them copies of file versions, and how far copies may go.
 */
export interface StorageSafetyCopies {
  /**
   * What they take now.
   */
  bytes: number;
  /**
   * Up to here copies are made; clones always are.
   */
  budgetBytes: number;
  /**
   * Versions that this process did not copy, for want of budget or disk.
   */
  skipped: number;
  /**
   * What to do where the budget is used up. Nothing is removed.
   */
  advice?: string;
}
/**
 * Params of storage/verify.
 */
export interface StorageVerifyParams {
  /**
   * One thread; absent: all.
   */
  threadId?: string | null;
}
/**
 * Result of storage/verify.
 */
export interface StorageVerifyResult {
  /**
   * Whether nothing differs but damage that is told of already.
   */
  ok: boolean;
  /**
   * How many threads were checked.
   */
  threads: number;
  /**
   * How many events their rollouts hold.
   */
  events: number;
  /**
   * How many bytes of rollouts were read.
   */
  bytes: number;
  /**
   * How many contents were read.
   */
  contents: number;
  /**
   * What differs; at most 1,000 are listed.
   */
  differences: StorageDifference[];
  /**
   * How many there are.
   */
  differenceCount: number;
}
/**
 * A reply with a result.
 */
export interface Success {
  /**
   * Sent if the client sends it.
   */
  jsonrpc?: "2.0";
  /**
   * The request's id.
   */
  id: string | number;
  /**
   * As the method says.
   */
  result: {
    [k: string]: unknown;
  };
}
/**
 * A thread went into the archive, or out of it.
 */
export interface ThreadArchived {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Sequence of the event.
   */
  sequence: number;
}
/**
 * A thread is gone.
 */
export interface ThreadDeleted {
  /**
   * The thread.
   */
  threadId: string;
}
/**
 * Params of thread/events/list.
 */
export interface ThreadEventsListParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Only events after this one.
   */
  afterSequence?: number | null;
  /**
   * At most so many events.
   */
  limit?: number | null;
  /**
   * Only events of these types.
   */
  types?: string[] | null;
}
/**
 * Result of thread/events/list.
 */
export interface ThreadEventsListResult {
  /**
   * The events by sequence.
   */
  data: AgentEvent[];
  /**
   * Sequence of the thread's newest event, of whatever type.
   */
  lastSequence: number;
  /**
   * Whether more events of these types follow.
   */
  hasMore: boolean;
}
/**
 * Params of thread/export.
 */
export interface ThreadExportParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * `jsonl`: its events; with redact false the rollout, byte for byte. `markdown`, `html`: to read; the page needs nothing else. `bundle`: a zip file with its rollout and contents.
   */
  format: "jsonl" | "markdown" | "html" | "bundle";
  /**
   * A new file, absolute; its folder exists. Without one the content is in the reply.
   */
  path?: string | null;
  /**
   * False: secrets that are recognised stay in. Without it true, for a bundle false: only a whole one can be imported.
   */
  redact?: boolean | null;
}
/**
 * Result of thread/export.
 */
export interface ThreadExportResult {
  /**
   * The file that was written.
   */
  path?: string;
  /**
   * The document, where no path was given.
   */
  content?: string;
  /**
   * In place of `content`: a document that is no text.
   */
  contentBase64?: string;
  /**
   * Its size.
   */
  bytes: number;
  /**
   * SHA-256 of its bytes.
   */
  sha256: string;
  /**
   * True: events of the thread are lost.
   */
  partial?: boolean;
  /**
   * How many different secrets of each kind were left out; absent with redact false.
   */
  redactions?: {
    [k: string]: number;
  };
  /**
   * For a bundle that may hold secrets: what to think of.
   */
  warning?: string;
}
/**
 * Params of thread/fork. Without lastTurnId and beforeTurnId the whole thread is forked.
 */
export interface ThreadForkParams {
  /**
   * The thread to fork; it is not changed.
   */
  threadId: string;
  /**
   * The last turn that the fork has.
   */
  lastTurnId?: string | null;
  /**
   * The first turn that the fork does not have.
   */
  beforeTurnId?: string | null;
  /**
   * True: `thread.turns` stays empty.
   */
  excludeTurns?: boolean | null;
  /**
   * A name for the fork.
   */
  name?: string | null;
  /**
   * Another workspace root.
   */
  cwd?: string | null;
}
/**
 * Params of thread/import.
 */
export interface ThreadImportParams {
  /**
   * A bundle, or the lines of a thread as thread/export gives them with redact false; absolute.
   */
  path: string;
}
/**
 * Result of thread/import.
 */
export interface ThreadImportResult {
  /**
   * The thread. It has no workspace until thread/metadata/update links one.
   */
  thread: Thread;
  /**
   * How many events are new here.
   */
  imported: number;
  /**
   * How many events were here already.
   */
  duplicates: number;
}
/**
 * Params of thread/items/list.
 */
export interface ThreadItemsListParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Only items of this turn.
   */
  turnId?: string | null;
  /**
   * `nextCursor` or `backwardsCursor` of another page.
   */
  cursor?: string | null;
  /**
   * At most so many items.
   */
  limit?: number | null;
  /**
   * Oldest or newest first.
   */
  sortDirection?: ("asc" | "desc") | null;
}
/**
 * Result of thread/items/list.
 */
export interface ThreadItemsListResult {
  /**
   * The items.
   */
  data: TurnItem[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
  /**
   * Where the page before begins; null where there is none.
   */
  backwardsCursor: string | null;
}
/**
 * An item and the turn that it is in.
 */
export interface TurnItem {
  /**
   * The turn.
   */
  turnId: string;
  /**
   * The item.
   */
  item: ThreadItem;
}
/**
 * Params of thread/list.
 */
export interface ThreadListParams {
  /**
   * `nextCursor` or `backwardsCursor` of another page.
   */
  cursor?: string | null;
  /**
   * At most so many threads.
   */
  limit?: number | null;
  /**
   * The order, by microseconds, then by creation.
   */
  sortKey?: ("created_at" | "updated_at" | "recency_at") | null;
  /**
   * Newest or oldest first.
   */
  sortDirection?: ("asc" | "desc") | null;
  /**
   * Only these providers; empty is all.
   */
  modelProviders?: string[] | null;
  /**
   * Only these sources; empty is all.
   */
  sourceKinds?: string[] | null;
  /**
   * True: only archived ones; false: only others.
   */
  archived?: boolean | null;
  /**
   * Only threads of these workspaces, however the path is spelled.
   */
  cwd?: string | string[] | null;
  /**
   * Only threads whose name or preview contains it.
   */
  searchTerm?: string | null;
  /**
   * Only children of this thread.
   */
  parentThreadId?: string | null;
  /**
   * Only descendants of this thread.
   */
  ancestorThreadId?: string | null;
}
/**
 * Result of thread/list.
 */
export interface ThreadListResult {
  /**
   * The threads, without turns.
   */
  data: Thread[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
  /**
   * Where the page before begins; null where there is none.
   */
  backwardsCursor: string | null;
}
/**
 * Params of thread/metadata/update. What is absent stays as it is.
 */
export interface ThreadMetadataUpdateParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Replaces what it knows of the repository.
   */
  gitInfo?: GitInfoInput | null;
  /**
   * Merged into `extra`; a null inside removes the key.
   */
  extra?: {
    [k: string]: unknown;
  } | null;
  /**
   * Links the thread to this directory, absolute.
   */
  workspace?: string | null;
}
/**
 * Params of thread/name/set.
 */
export interface ThreadNameSetParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Its name for people.
   */
  name: string;
}
/**
 * What thread/start, thread/resume and thread/fork return.
 */
export interface ThreadOpened {
  /**
   * The thread.
   */
  thread: Thread;
  /**
   * The model; "" if it was not given.
   */
  model: string;
  /**
   * Its provider; "" if it was not given.
   */
  modelProvider: string;
  /**
   * The workspace root; "" where there is none.
   */
  cwd: string;
  /**
   * As given.
   */
  runtimeWorkspaceRoots: string[];
  /**
   * Always empty: the host reads instructions.
   */
  instructionSources: string[];
  /**
   * As given, else null.
   */
  approvalPolicy: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  approvalsReviewer: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  sandbox: {
    [k: string]: unknown;
  };
}
/**
 * A thread alone.
 */
export interface ThreadParams {
  /**
   * The thread.
   */
  threadId: string;
}
/**
 * Params of thread/read.
 */
export interface ThreadReadParams {
  /**
   * The thread; archived ones too.
   */
  threadId: string;
  /**
   * Whether the turns come with all their items.
   */
  includeTurns?: boolean | null;
}
/**
 * A recorded event of a replay. Nothing is done again: it tells what was done.
 */
export interface ThreadReplayEvent {
  /**
   * The replay, as in its result.
   */
  replayId: string;
  /**
   * The event as thread/events/list returns it.
   */
  event: AgentEvent;
}
/**
 * Params of thread/replay. What is sent are the events that are stored when the request begins.
 */
export interface ThreadReplayParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * Only events after this one.
   */
  afterSequence?: number | null;
  /**
   * Only events up to this one, itself too.
   */
  untilSequence?: number | null;
  /**
   * 1 keeps the recorded gaps, 2 halves them; no gap is longer than 2 s. `max`: no gaps.
   */
  speed?: number | "max" | null;
}
/**
 * Result of thread/replay, after the last event.
 */
export interface ThreadReplayResult {
  /**
   * The replay.
   */
  replayId: string;
  /**
   * How many events were sent.
   */
  eventCount: number;
  /**
   * Sequence of the first event sent.
   */
  firstSequence?: number;
  /**
   * Sequence of the last event sent.
   */
  lastSequence?: number;
  /**
   * SHA-256 of the events sent: of the bytes of each `event`, with an LF after it.
   */
  digest: string;
}
/**
 * A thread alone.
 */
export interface ThreadResult {
  /**
   * The thread.
   */
  thread: Thread;
}
/**
 * Params of thread/resume: opens a thread and subscribes to it.
 */
export interface ThreadResumeParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * True: `thread.turns` stays empty.
   */
  excludeTurns?: boolean | null;
  /**
   * Asks for a page of turns.
   */
  initialTurnsPage?: InitialTurnsPage | null;
  /**
   * The events after this one follow as notifications, before live ones.
   */
  afterSequence?: number | null;
}
/**
 * Result of thread/resume.
 */
export interface ThreadResumeResult {
  /**
   * The thread.
   */
  thread: Thread;
  /**
   * The model; "" if it was not given.
   */
  model: string;
  /**
   * Its provider; "" if it was not given.
   */
  modelProvider: string;
  /**
   * The workspace root; "" where there is none.
   */
  cwd: string;
  /**
   * As given.
   */
  runtimeWorkspaceRoots: string[];
  /**
   * Always empty: the host reads instructions.
   */
  instructionSources: string[];
  /**
   * As given, else null.
   */
  approvalPolicy: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  approvalsReviewer: {
    [k: string]: unknown;
  };
  /**
   * As given, else null.
   */
  sandbox: {
    [k: string]: unknown;
  };
  /**
   * The page that was asked for.
   */
  initialTurnsPage?: TurnsPage;
}
/**
 * Params of thread/rollback: one of the two is given.
 */
export interface ThreadRollbackParams {
  /**
   * The thread; no turn of it may be open.
   */
  threadId: string;
  /**
   * How many of the last turns leave the reads.
   */
  numTurns?: number | null;
  /**
   * The last turn that stays.
   */
  toTurnId?: string | null;
}
/**
 * Params of thread/search. No sign in the query is an operator but double quotes around a phrase.
 */
export interface ThreadSearchParams {
  /**
   * Words that must all be in one item or title, in any order; words in double quotes, and parts of a word such as src/main.py, directly behind each other. Case and accents do not count. Where no whole word is found, beginnings of words are.
   */
  query: string;
  /**
   * Only this thread, archived or not.
   */
  threadId?: string | null;
  /**
   * Only threads of this workspace, however its path is spelled.
   */
  cwd?: string | null;
  /**
   * True: only archived threads. Default false, without threadId.
   */
  archived?: boolean | null;
  /**
   * At most so many hits.
   */
  limit?: number | null;
  /**
   * `nextCursor` of another page.
   */
  cursor?: string | null;
}
/**
 * Result of thread/search.
 */
export interface ThreadSearchResult {
  /**
   * What was found, the best first.
   */
  data: SearchHit[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
  /**
   * There while the index is not complete: ask again for all that there is.
   */
  indexing?: Indexing;
}
/**
 * Params of thread/start. Fields that are not listed are kept in the thread's `extra`.
 */
export interface ThreadStartParams {
  /**
   * The workspace root, absolute. Without one, file contents must come in the events.
   */
  cwd?: string | null;
  /**
   * The model that the host uses.
   */
  model?: string | null;
  /**
   * The provider of the model.
   */
  modelProvider?: string | null;
  /**
   * Further roots; recorded only.
   */
  runtimeWorkspaceRoots?: string[] | null;
  /**
   * True: keep it in memory only.
   */
  ephemeral?: boolean | null;
  /**
   * What started it; returned as given.
   */
  threadSource?: {
    [k: string]: unknown;
  };
  /**
   * Name of the host's service.
   */
  serviceName?: string | null;
  /**
   * A name for people.
   */
  name?: string | null;
  /**
   * Id for the new thread; one is made if absent.
   */
  threadId?: string | null;
  /**
   * The repository of the workspace.
   */
  gitInfo?: GitInfoInput | null;
  [k: string]: unknown;
}
/**
 * A thread was created, by start, fork or import.
 */
export interface ThreadStarted {
  /**
   * The thread.
   */
  thread: Thread;
  /**
   * Sequence of the event.
   */
  sequence: number;
}
/**
 * Params of thread/turns/list.
 */
export interface ThreadTurnsListParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * `nextCursor` or `backwardsCursor` of another page.
   */
  cursor?: string | null;
  /**
   * At most so many turns.
   */
  limit?: number | null;
  /**
   * Newest or oldest first.
   */
  sortDirection?: ("asc" | "desc") | null;
  /**
   * How much of the items comes along.
   */
  itemsView?: ("notLoaded" | "summary" | "full") | null;
}
/**
 * What the thread used.
 */
export interface TokenUsage {
  /**
   * All turns.
   */
  total: Usage;
  /**
   * The last request to a model.
   */
  last: Usage;
}
/**
 * Usage was reported.
 */
export interface TokenUsageUpdated {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn that used it.
   */
  turnId?: string;
  tokenUsage: TokenUsage;
  /**
   * Sequence of the event.
   */
  sequence: number;
}
/**
 * Params of turn/interrupt.
 */
export interface TurnInterruptParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The open turn.
   */
  turnId: string;
}
/**
 * A turn began or ended.
 */
export interface TurnNotification {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn: inProgress when started, else completed, failed or interrupted.
   */
  turn: Turn;
  /**
   * Sequence of the event.
   */
  sequence: number;
}
/**
 * Payload of turn.started, turn.completed, turn.failed and turn.canceled.
 */
export interface TurnPayload {
  /**
   * Usage of the whole turn.
   */
  usage?: TurnUsage | null;
  /**
   * Why the turn failed: a text or an object.
   */
  error?: string | EventError | null;
  [k: string]: unknown;
}
/**
 * Tokens that a turn used, as far as the host says.
 */
export interface TurnUsage {
  /**
   * Tokens sent to the model.
   */
  inputTokens?: number | null;
  /**
   * Of these, tokens read from the cache.
   */
  cachedInputTokens?: number | null;
  /**
   * Tokens that the model wrote.
   */
  outputTokens?: number | null;
  /**
   * Of these, tokens of reasoning.
   */
  reasoningOutputTokens?: number | null;
  /**
   * The model.
   */
  model?: string | null;
  /**
   * Cost in US dollars, where the host knows it.
   */
  costUsd?: number | null;
  [k: string]: unknown;
}
/**
 * Params of turn/start.
 */
export interface TurnStartParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * What the user says.
   *
   * @minItems 1
   */
  input: [UserInput, ...UserInput[]];
  /**
   * Kept as `clientId` of the message's item.
   */
  clientUserMessageId?: string | null;
  /**
   * Id for the new turn; one is made if absent.
   */
  turnId?: string | null;
  /**
   * The model for this turn and the following ones.
   */
  model?: string | null;
  /**
   * Reasoning effort, as the host names it.
   */
  effort?: string | null;
  /**
   * Where the agent works in this turn; recorded only.
   */
  cwd?: string | null;
  [k: string]: unknown;
}
/**
 * Result of turn/start.
 */
export interface TurnStartResult {
  /**
   * The new turn, inProgress.
   */
  turn: Turn;
}
/**
 * Params of turn/steer.
 */
export interface TurnSteerParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * What the user adds.
   *
   * @minItems 1
   */
  input: [UserInput, ...UserInput[]];
  /**
   * The turn that the client believes is open.
   */
  expectedTurnId: string;
  /**
   * Kept as `clientId` of the message's item.
   */
  clientUserMessageId?: string | null;
}
/**
 * Result of turn/steer.
 */
export interface TurnSteerResult {
  /**
   * The turn that the message went to.
   */
  turnId: string;
}
/**
 * Params of agentSession/fileCheckpoint/undo: exactly one of the two ids.
 */
export interface UndoParams {
  /**
   * The session (the thread's id).
   */
  sessionId: string;
  /**
   * Of a rewind, or of an undo.
   */
  rewindId?: string | null;
  /**
   * Of a restore.
   */
  restoreCheckpointId?: string | null;
  /**
   * Must be true, unless dryRun.
   */
  confirmRestore?: boolean | null;
  /**
   * `backup`: record unknown bytes as versions, then go on.
   */
  onConflict?: ("refuse" | "backup") | null;
  /**
   * Plan only; changes nothing.
   */
  dryRun?: boolean | null;
}
/**
 * Payload of provider.usage: what one request to a model cost.
 */
export interface UsagePayload {
  /**
   * Tokens sent to the model.
   */
  inputTokens: number;
  /**
   * Of these, tokens read from the cache.
   */
  cachedInputTokens: number;
  /**
   * Tokens that the model wrote.
   */
  outputTokens: number;
  /**
   * Of these, tokens of reasoning.
   */
  reasoningOutputTokens: number;
  /**
   * The model.
   */
  model?: string | null;
  /**
   * Cost in US dollars, where the host knows it.
   */
  costUsd?: number | null;
  [k: string]: unknown;
}
/**
 * A worker. It is `interrupted` when its process is gone or its lease ran out; what a dead one did is unknown.
 */
export interface Worker {
  /**
   * Unique in its thread.
   */
  workerId: string;
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn that it was started in.
   */
  turnId?: string;
  /**
   * What sort of worker it is, in the host's words.
   */
  kind: string;
  /**
   * How it is doing, or how it ended.
   */
  status: "active" | "completed" | "failed" | "cancelled" | "interrupted";
  /**
   * Which attempt this is: 1, 2, 3…
   */
  attempt: number;
  /**
   * How many attempts it may have.
   */
  maxAttempts: number;
  /**
   * Until when it counts as alive without a heartbeat; RFC 3339.
   */
  leaseExpiresAt: string;
  /**
   * The process that last vouched for it.
   */
  bootId: string;
  /**
   * When its first attempt began; RFC 3339, UTC, microseconds.
   */
  startedAt: string;
  /**
   * When worker/finish was told; RFC 3339.
   */
  finishedAt?: string;
}
/**
 * Params of worker/finish. Told twice is told once.
 */
export interface WorkerFinishParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The worker.
   */
  workerId: string;
  /**
   * How it ended.
   */
  status: "completed" | "failed" | "cancelled";
  /**
   * What came out of it; kept in the event.
   */
  result?: {
    [k: string]: unknown;
  };
  /**
   * Why it failed; kept in the event.
   */
  error?: {
    [k: string]: unknown;
  };
}
/**
 * Params of worker/list.
 */
export interface WorkerListParams {
  /**
   * Only workers of this thread.
   */
  threadId?: string | null;
  /**
   * Only those that are so now.
   */
  status?: ("active" | "completed" | "failed" | "cancelled" | "interrupted") | null;
  /**
   * `nextCursor` of another page.
   */
  cursor?: string | null;
  /**
   * At most so many workers.
   */
  limit?: number | null;
}
/**
 * Result of worker/list.
 */
export interface WorkerListResult {
  /**
   * The workers, those that were started last first.
   */
  data: Worker[];
  /**
   * Where the next page begins; null at the end.
   */
  nextCursor: string | null;
}
/**
 * A worker alone: params of worker/heartbeat and worker/retry.
 */
export interface WorkerParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The worker.
   */
  workerId: string;
}
/**
 * Payload of the other events about a worker; `result` and `error` of its end are kept.
 */
export interface WorkerPayload {
  /**
   * The worker.
   */
  workerId: string;
  [k: string]: unknown;
}
/**
 * Params of worker/start.
 */
export interface WorkerStartParams {
  /**
   * The thread.
   */
  threadId: string;
  /**
   * The turn; without it, the one that is open, if one is.
   */
  turnId?: string | null;
  /**
   * Id for the new worker; one is made if absent.
   */
  workerId?: string | null;
  /**
   * What sort of worker it is.
   */
  kind: string;
  /**
   * How long it counts as alive after a heartbeat.
   */
  leaseMs?: number | null;
  /**
   * How often it may be begun in all.
   */
  maxAttempts?: number | null;
}
/**
 * Payload of worker.started. Lease, attempt and process are added by the sidecar, whatever is sent.
 */
export interface WorkerStartedPayload {
  /**
   * Id for the new worker; one is made if absent.
   */
  workerId?: string | null;
  /**
   * What sort of worker it is.
   */
  kind: string;
  /**
   * How long it lives after a heartbeat. Default 30000.
   */
  leaseMs?: number | null;
  /**
   * How often it may be begun. Default 3.
   */
  maxAttempts?: number | null;
  [k: string]: unknown;
}
