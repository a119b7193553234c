/** The client: one method per operation. */

import { Refused } from "./errors.js";
import { type Options, type Request, Transport } from "./transport.js";
import type * as t from "./types.js";

const name = encodeURIComponent;
/** How much longer than its wait the answer to a claim may take. */
const CLAIM_BEYOND_MS = 10_000;

/** A client of one node, or of several behind one address. */
export class Client {
  readonly #transport: Transport;

  constructor(address: string, options: Options = {}) {
    this.#transport = new Transport(address, options);
  }

  #get<T>(path: string, query?: object): Promise<T> {
    return this.#transport.send<T>({ method: "GET", path, query, repeat: true });
  }

  #post<T>(path: string, body?: unknown, more: Partial<Request> = {}): Promise<T> {
    return this.#transport.send<T>({ method: "POST", path, body, repeat: true, ...more });
  }

  /** A change of one task, repeatable by its revision or its key; each key costs the node a row. */
  #change(request: Omit<Request, "repeat">, { revision, key }: t.Change): Promise<t.Receipt> {
    const own = key ?? (revision === undefined ? `client-${crypto.randomUUID()}` : undefined);
    return this.#transport.send({ ...request, repeat: true, headers: { "idempotency-key": own } });
  }

  /** Creates a task or changes it; a time in the past means now. */
  put(kind: string, subject: string, execute_at: t.When, options: t.PutOptions & t.Change = {}): Promise<t.Receipt> {
    const { key, ...rest } = options;
    const body = putBody({ execute_at, ...rest });
    return this.#change({ method: "PUT", path: taskPath(kind, subject), body }, options);
  }

  /** Moves a task to another time and leaves the rest as it is. */
  reschedule(kind: string, subject: string, execute_at: t.When, change: t.Change = {}): Promise<t.Receipt> {
    return this.put(kind, subject, execute_at, change);
  }

  /** Withdraws a task. */
  cancel(kind: string, subject: string, change: t.Change = {}): Promise<t.Receipt> {
    const query = { revision: change.revision };
    return this.#change({ method: "DELETE", path: taskPath(kind, subject), query }, change);
  }

  /** Tries a task again now, with the payload it had. */
  retry(kind: string, subject: string): Promise<t.Receipt> {
    return this.#change({ method: "POST", path: `${taskPath(kind, subject)}/retry` }, {});
  }

  /** The current task of an identity. */
  get(kind: string, subject: string): Promise<t.Task> {
    return this.#get(taskPath(kind, subject));
  }

  /** The current task of an identity, if there is one. */
  async find(kind: string, subject: string): Promise<t.Task | undefined> {
    try {
      return await this.get(kind, subject);
    } catch (error) {
      if (error instanceof Refused && error.code === "no_such_task") return undefined;
      throw error;
    }
  }

  /** A page of tasks, newest first; an empty page may still lead to another one. */
  list(filter: t.TaskFilter & t.Paging = {}): Promise<t.TasksPage> {
    return this.#get("/api/v1/tasks", filter);
  }

  /** The newest decisions and attempts of a task, in order. */
  history(kind: string, subject: string, paging: t.Paging = {}): Promise<t.HistoryPage> {
    return this.#get(`${taskPath(kind, subject)}/history`, paging);
  }

  /** Creates or changes many, each answered in its place. With a key: all or none. */
  async batch(puts: t.Put[], { key }: { key?: string } = {}): Promise<(t.Receipt | Refused)[]> {
    const repeat = key !== undefined || puts.every((put) => put.revision !== undefined);
    const body = { tasks: puts.map(putBody) };
    return receipts(await this.#post("/api/v1/tasks:batch", body, { repeat, headers: { "idempotency-key": key } }));
  }

  /** What became of a decision. */
  receipt(receipt: string): Promise<t.KeptReceipt> {
    return this.#get(`/api/v1/receipts/${name(receipt)}`);
  }

  /** Sends changes as CloudEvents, each answered in its place. */
  async sendEvents(events: t.Event[]): Promise<(t.Receipt | Refused)[]> {
    const headers = { "content-type": "application/cloudevents-batch+json" };
    return receipts(await this.#post("/api/v1/events", events.map(cloudEvent), { headers }));
  }

  /** Writes a schedule; with a revision only if it is still at that one, 0: only if it is new. */
  putSchedule(schedule: string, definition: t.Definition, { revision }: { revision?: number } = {}): Promise<t.Schedule> {
    const headers = {
      "if-match": revision ? `"${revision}"` : undefined,
      "if-none-match": revision === 0 ? "*" : undefined,
    };
    // A second try would meet the first one's revision.
    const repeat = revision === undefined;
    return this.#transport.send({ method: "PUT", path: schedulePath(schedule), body: definition, headers, repeat });
  }

  /** One schedule. */
  schedule(schedule: string): Promise<t.Schedule> {
    return this.#get(schedulePath(schedule));
  }

  /** A page of schedules, by name. */
  schedules(filter: t.ScheduleFilter = {}): Promise<t.SchedulesPage> {
    return this.#get("/api/v1/schedules", filter);
  }

  /** Stops it from firing. */
  pauseSchedule(schedule: string, options: t.PauseOptions = {}): Promise<t.Schedule> {
    return this.#post(`${schedulePath(schedule)}/pause`, options);
  }

  /** Lets it fire again. */
  resumeSchedule(schedule: string): Promise<t.Schedule> {
    return this.#post(`${schedulePath(schedule)}/resume`);
  }

  /** Fires it now, beside its slots. Never repeated: it would fire twice. */
  fireSchedule(schedule: string): Promise<t.Fired> {
    return this.#post(`${schedulePath(schedule)}/fire`, {}, { repeat: false });
  }

  /** Takes it away; its history stays. */
  removeSchedule(schedule: string): Promise<t.Schedule> {
    return this.#transport.send({ method: "DELETE", path: schedulePath(schedule), repeat: true });
  }

  /** All kinds that are configured or have tasks. */
  async kinds(): Promise<t.KindStatus[]> {
    return (await this.#get<{ kinds: t.KindStatus[] }>("/api/v1/kinds")).kinds;
  }

  /** Holds a kind: its waiting tasks stay, running ones end. */
  pauseKind(kind: string, options: t.PauseOptions = {}): Promise<t.KindStatus> {
    return this.#post(`/api/v1/kinds/${name(kind)}/pause`, options);
  }

  /** Lets its tasks run again. */
  resumeKind(kind: string): Promise<t.KindStatus> {
    return this.#post(`/api/v1/kinds/${name(kind)}/resume`);
  }

  /** Counts what a bulk change would change. Changes nothing. */
  planBulk(action: t.BulkAction, filter: t.TaskFilter): Promise<t.BulkPlan> {
    return this.#post("/api/v1/tasks/bulk", { ...action, filter, dry_run: true });
  }

  /** Starts a bulk change, of tasks up to the plan's. Never repeated: ask `bulk` what became of it. */
  startBulk(action: t.BulkAction, filter: t.TaskFilter, plan?: { through_task_id: number }): Promise<t.Bulk> {
    const body = { ...action, filter, through_task_id: plan?.through_task_id };
    return this.#post("/api/v1/tasks/bulk", body, { repeat: false });
  }

  /** How far a bulk change is. */
  bulk(bulk_id: number): Promise<t.Bulk> {
    return this.#get(`/api/v1/bulk/${bulk_id}`);
  }

  /** Takes due tasks, waiting for some. What a lost answer had taken comes back after its lease. */
  async claim(claim: t.Claim, signal?: AbortSignal): Promise<t.ClaimedTask[]> {
    const timeoutMs = (claim.wait_s ?? 0) * 1000 + CLAIM_BEYOND_MS;
    return (await this.#work<t.ClaimedTask>("claim", claim, { repeat: false, timeoutMs, signal }));
  }

  /** Holds tasks for longer, from now on. */
  extend(tasks: t.Held[], lease_s: number): Promise<t.Ended[]> {
    return this.#work("extend", { tasks, lease_s });
  }

  /** Reports endings. */
  finish(tasks: t.Finish[]): Promise<t.Ended[]> {
    return this.#work("finish", { tasks });
  }

  /** Gives tasks back; they do not count as attempts. */
  release(tasks: t.Held[]): Promise<t.Ended[]> {
    return this.#work("release", { tasks });
  }

  async #work<T>(what: string, body: unknown, more: Partial<Request> = {}): Promise<T[]> {
    return (await this.#post<{ tasks: T[] }>(`/api/v1/work/${what}`, body, more)).tasks;
  }
}

function taskPath(kind: string, subject: string): string {
  return `/api/v1/tasks/${name(kind)}/${name(subject)}`;
}

function schedulePath(schedule: string): string {
  return `/api/v1/schedules/${name(schedule)}`;
}

function putBody<T extends { callback?: string | t.Callback }>(put: T): T {
  return typeof put.callback === "string" ? { ...put, callback: { url: put.callback } } : put;
}

function receipts(answer: { receipts: any[] }): (t.Receipt | Refused)[] {
  return answer.receipts.map((it) => (it.error ? new Refused(it.error) : it));
}

function cloudEvent({ id, source, subject, ...data }: t.Event): object {
  const action = data.execute_at === undefined ? "cancel" : "put";
  const { callback, ...rest } = data;
  // An event has only the address, flat, where nothing else is said about the call.
  const where = typeof callback === "string" ? { callback_url: callback } : { callback };
  return { specversion: "1.0", type: `almanack.task.${action}.v1`, id, source, subject, data: { ...rest, ...where } };
}
