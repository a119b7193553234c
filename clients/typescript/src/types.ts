/** What goes over the wire. */

/** RFC 3339; `new Date(text)` reads it. */
export type Instant = string;
/** A time that is given. */
export type When = Date | Instant;
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Status = "INIT" | "RUNNING" | "SUCCESS" | "FAIL" | "CANCELLED";

/** Where and how a task calls; what is not said is as the kind is configured. */
export interface Callback {
  url?: string;
  method?: string;
  timeout_s?: number;
  headers?: Record<string, string>;
}

/** What may be said about a task beside its time; what is not said stays as it is. */
export interface PutOptions {
  payload?: unknown;
  /** An address, or more about the call. Not for pulled kinds. */
  callback?: string | Callback;
  max_retry?: number;
  /** 0 to 9; 9 goes first. */
  priority?: number;
  /** Your number of this change, from 1; an older one never overrides a newer one. */
  revision?: number;
  expires_at?: When;
  expires_after_s?: number;
  tags?: string[];
}

/** What makes a change recognisable when it arrives again. Default: a key of the client's own. */
export interface Change {
  revision?: number;
  /** An idempotency key of your own. */
  key?: string;
}

/** One task of a batch. */
export interface Put extends PutOptions {
  kind: string;
  subject: string;
  execute_at: When;
}

/** A change of a task as a CloudEvent; its revision makes it harmless twice and out of order. */
export interface Event extends PutOptions {
  id: string;
  /** Names the sender: `/article-service`. */
  source: string;
  kind: string;
  subject: string;
  revision: number;
  /** When to try; left out, the task is withdrawn. */
  execute_at?: When;
}

/** The answer to a change: the rule that applied, and to which task. */
export interface Receipt {
  receipt: string;
  rule: string;
  kind: string;
  subject: string;
  task_id: number;
  execute_at: Instant;
  revision: number;
  old_execute_at?: Instant;
  cancelled_task_id?: number;
}

/** A receipt that was asked for later. */
export interface KeptReceipt extends Omit<Receipt, "revision"> {
  kept: "stands" | "superseded" | "done" | "failed" | "withdrawn" | "changed_nothing";
  decided_at: Instant;
  origin: string;
  revision?: number;
}

export interface Task {
  task_id: number;
  kind: string;
  subject: string;
  status: Status;
  /** Whether it is waiting, will be retried, or is running. */
  live: boolean;
  execute_at: Instant;
  payload: any;
  callback?: Callback;
  priority: number;
  attempt: number;
  max_retry: number;
  revision: number;
  origin: string;
  detail?: string;
  /** The node or worker that claimed it last. */
  node?: string;
  lease_until?: Instant;
  replaces?: number;
  created_at: Instant;
  started_at?: Instant;
  finished_at?: Instant;
  expires_at?: Instant;
  tags?: string[];
}

/** Which tasks; everything that is given must fit. */
export interface TaskFilter {
  /** Numbers of rows, separated by commas. */
  task_id?: string;
  /** Almanack's own kinds, or only the others. */
  internal?: boolean;
  kind?: string;
  /** How the subject begins. */
  subject_prefix?: string;
  /** A part of the subject. */
  subject_contains?: string;
  status?: Status;
  live?: boolean;
  tag?: string;
  /** Execute time. */
  from?: When;
  to?: When;
  /** A part of the last attempt's error. */
  error?: string;
}

export interface Paging {
  limit?: number;
  cursor?: string;
}

export interface TasksPage {
  tasks: Task[];
  next_cursor: string | null;
}

/** Decisions and attempts, in order; `what` says which. */
export interface HistoryPage {
  events: ({ what: "decision" | "attempt" } & Record<string, any>)[];
  next_cursor: string | null;
}

export interface Definition {
  expression: string;
  target: { type: string } & Record<string, unknown>;
  tz?: string;
  [policy: string]: unknown;
}

export interface Schedule {
  name: string;
  origin: "file" | "dispatch" | "api";
  definition?: Definition;
  revision: number;
  state: "active" | "paused" | "parked" | "removed" | "done";
  paused?: { since: Instant; until: Instant | null; note?: string; by: string };
  next_at: Instant | null;
  last_firing?: string;
  created_at: Instant;
  changed_at: Instant;
  warnings?: { code: string; message: string; path: string }[];
}

export interface ScheduleFilter {
  origin?: "file" | "dispatch" | "api";
  state?: string;
  tag?: string;
  owner?: string;
  removed?: boolean;
  cursor?: string;
}

export interface SchedulesPage {
  schedules: Schedule[];
  next_cursor: string | null;
}

export interface Fired {
  kind: string;
  subject: string;
  nominal_at: Instant;
}

export interface PauseOptions {
  until?: When;
  note?: string;
}

export interface KindStatus {
  kind: string;
  deliver?: "push" | "pull";
  paused?: { note?: string; until?: Instant; by: string; at: Instant } | null;
  waiting?: number;
  due?: number;
  running?: number;
}

/** What to do with all tasks that fit. */
export type BulkAction =
  | { action: "cancel" | "retry" }
  | { action: "move"; by_s: number }
  | { action: "move"; to: When };

export interface BulkPlan {
  matched: number;
  would_change: number;
  /** The newest task it looked at; given to the change, that looks at no newer one either. */
  through_task_id: number;
}

export interface Bulk {
  bulk_id: number;
  [progress: string]: unknown;
}

/** Names one claim on one task. */
export interface Held {
  task_id: number;
  term: number;
}

/** A task that this worker holds until `lease_until`. */
export interface ClaimedTask extends Held {
  kind: string;
  subject: string;
  attempt: number;
  max_retry: number;
  execute_at: Instant;
  payload: any;
  revision: number;
  lease_until: Instant;
}

export interface Claim {
  kinds: string[];
  max?: number;
  wait_s?: number;
  lease_s?: number;
  worker?: string;
}

export interface Finish extends Held {
  outcome: "done" | "again" | "retry" | "give_up";
  detail?: string;
  /** Of `again`. */
  at?: When;
  /** Of `retry`. */
  retry_after_s?: number;
}

/** `applied` or `late`; of an extension `extended` or `lost`. */
export interface Ended extends Held {
  result: "applied" | "late" | "extended" | "lost";
}
