/**
 * A pull worker: takes due tasks, runs a handler for each, reports how they ended.
 *
 * - A task is *held* from its claim until its ending is acknowledged, and what is held is extended
 *   every third of its lease. A slow handler keeps its task, a dead process does not.
 * - A handler whose lease is lost gets its signal: another worker has its task.
 * - Endings wait for the report before them, so many small ones become few large ones.
 * - While the node is away, nothing is dropped: claims and reports are tried again with growing
 *   waits. A refusal that waiting cannot change ends the worker with that error.
 */

import type { Client } from "./client.js";
import { AlmanackError } from "./errors.js";
import { backoff, pause } from "./transport.js";
import type { ClaimedTask, Finish, Held, When } from "./types.js";

/** How long a claim waits for work; the longest that a node allows. */
const WAIT_S = 30;
/** A node that is shutting down answers at once that it has nothing; it is not asked all the time. */
const CLAIM_EVERY_MS = 200;
/** How many tasks one report or extension names. */
const REPORT_MAX = 1000;

/** The work goes on at another time; not a failure. Return it or throw it. */
export class Again extends Error {
  override name = "Again";
  constructor(readonly at: When) {
    super("again");
  }
}

/** It failed in a way that may pass. Any other error means the same. */
export class Retry extends Error {
  override name = "Retry";
  constructor(
    detail: string,
    readonly afterS?: number,
  ) {
    super(detail);
  }
}

/** It failed for good. */
export class GiveUp extends Error {
  override name = "GiveUp";
}

/** Returns nothing or a detail (done), or an `Again`. The signal says that the task is lost. */
export type Handler = (task: ClaimedTask, signal: AbortSignal) => Promise<string | void | Again> | string | void | Again;

export interface WorkerOptions {
  /** How many tasks run at once. Default: 4. */
  slots?: number;
  /** How long a task stays with a worker that has died, 5 to 3600. Default: 60. */
  leaseS?: number;
  /** How long running handlers may go on after the shutdown began. Default: 10. */
  drainS?: number;
  /** The name that people see where a node's stands. */
  name?: string;
  /** What is worth a line in a log. Default: `console.warn`. */
  log?: (line: string) => void;
}

export class Worker {
  readonly #handlers = new Map<string, Handler>();
  readonly #slots: number;
  readonly #leaseS: number;

  constructor(
    readonly client: Client,
    readonly options: WorkerOptions = {},
  ) {
    this.#slots = Math.min(Math.max(options.slots ?? 4, 1), 1000);
    this.#leaseS = Math.min(Math.max(options.leaseS ?? 60, 5), 3600);
  }

  /** Handles the tasks of a kind. It may be called again for the same task. */
  handle(kind: string, handler: Handler): this {
    this.#handlers.set(kind, handler);
    return this;
  }

  /** Works until the signal; then drains, and gives back the rest. */
  async run(stop: AbortSignal): Promise<void> {
    const { options } = this;
    const log = options.log ?? ((line: string) => console.warn(`almanack worker: ${line}`));
    const drainMs = (options.drainS ?? 10) * 1000;
    await new Shift(this.client, this.#handlers, this.#slots, this.#leaseS, options.name, log).run(stop, drainMs);
  }
}

interface Running {
  lost: AbortController;
  ended: Promise<void>;
}

/** One run of a worker. */
class Shift {
  /** Every task from its claim until its ending is acknowledged. */
  readonly #held = new Map<string, Held>();
  readonly #running = new Map<string, Running>();
  #ended: Finish[] = [];
  /** Wakes the reports, and the claims that wait for a slot. */
  #wake: () => void = () => {};
  #freed: () => void = () => {};

  constructor(
    readonly client: Client,
    readonly handlers: Map<string, Handler>,
    readonly slots: number,
    readonly leaseS: number,
    readonly name: string | undefined,
    readonly log: (line: string) => void,
  ) {}

  async run(stop: AbortSignal, drainMs: number): Promise<void> {
    const claims = new AbortController();
    const duties = new AbortController();
    let failure: unknown;
    const stopping = () => {
      claims.abort();
      this.#freed();
    };
    const duty = (work: Promise<void>) =>
      work.catch((error) => {
        failure ??= error;
        stopping();
      });
    stop.addEventListener("abort", stopping);
    if (stop.aborted) stopping();
    const beside = [this.#reports(duties.signal), this.#extensions(duties.signal)].map(duty);
    await duty(this.#claims(claims.signal));
    stop.removeEventListener("abort", stopping);
    const overdue = new AbortController();
    const ends = Promise.all([...this.#running.values()].map((it) => it.ended));
    await Promise.race([ends, pause(drainMs, overdue.signal)]);
    overdue.abort();
    for (const { lost } of this.#running.values()) lost.abort();
    duties.abort();
    this.#wake();
    await Promise.all(beside);
    await this.#close();
    if (failure !== undefined) throw failure;
  }

  async #claims(stop: AbortSignal): Promise<void> {
    let failed = 0;
    while (!stop.aborted) {
      const free = this.slots - this.#running.size;
      if (free === 0) {
        await new Promise<void>((resolve) => (this.#freed = resolve));
        continue;
      }
      const claim = { kinds: [...this.handlers.keys()], max: free, wait_s: WAIT_S, lease_s: this.leaseS, worker: this.name };
      const soon = pause(CLAIM_EVERY_MS, stop);
      try {
        const tasks = await this.client.claim(claim, stop);
        for (const task of tasks) this.#start(task);
        if (tasks.length === 0) await soon;
        failed = 0;
      } catch (error) {
        if (stop.aborted) return;
        if (!passes(error)) throw error;
        if (++failed === 1) this.log(`the node does not answer; trying again: ${error.message}`);
        await pause(backoff(failed), stop);
      }
    }
  }

  #start(task: ClaimedTask): void {
    this.#forget(task.task_id);
    const key = keyOf(task);
    const lost = new AbortController();
    this.#held.set(key, { task_id: task.task_id, term: task.term });
    const attempt = async () => {
      let answer: unknown;
      try {
        answer = await this.handlers.get(task.kind)?.(task, lost.signal);
      } catch (error) {
        answer = error instanceof Error ? error : new Error(String(error));
      }
      this.#running.delete(key);
      this.#freed();
      // What was lost, or is about to be given back, is not ours to end.
      if (lost.signal.aborted) return;
      this.#ended.push({ task_id: task.task_id, term: task.term, ...outcome(answer) });
      this.#wake();
    };
    // The attempt must not end before it is in the books.
    this.#running.set(key, { lost, ended: Promise.resolve().then(attempt) });
  }

  /** A task that comes again, under a larger term, had been lost. */
  #forget(task_id: number): void {
    for (const held of [...this.#held.values()].filter((it) => it.task_id === task_id)) {
      this.#drop(held);
      this.#held.delete(keyOf(held));
    }
    this.#ended = this.#ended.filter((it) => it.task_id !== task_id);
  }

  async #reports(stop: AbortSignal): Promise<void> {
    let failed = 0;
    while (!stop.aborted) {
      if (this.#ended.length === 0) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      try {
        await this.#report();
        failed = 0;
      } catch (error) {
        if (!passes(error)) throw error;
        await pause(backoff(++failed), stop);
      }
    }
  }

  /** Reports what has ended; it stays held until the node has acknowledged it. */
  async #report(): Promise<void> {
    const endings = this.#ended.slice(0, REPORT_MAX);
    for (const answer of await this.client.finish(endings)) {
      if (answer.result === "late") this.log(`task ${answer.task_id} ended too late`);
    }
    const reported = new Set(endings);
    this.#ended = this.#ended.filter((it) => !reported.has(it));
    for (const ending of endings) this.#held.delete(keyOf(ending));
  }

  async #extensions(stop: AbortSignal): Promise<void> {
    for (;;) {
      await pause((this.leaseS * 1000) / 3, stop);
      if (stop.aborted) return;
      for (const held of chunks([...this.#held.values()])) {
        try {
          const answers = await this.client.extend(held, this.leaseS);
          for (const answer of answers) if (answer.result === "lost") this.#drop(answer);
        } catch (error) {
          if (!(error instanceof AlmanackError)) throw error;
          this.log(`could not extend leases: ${error.message}`);
        }
      }
    }
  }

  #drop(held: Held): void {
    const running = this.#running.get(keyOf(held));
    // An ending under way is still reported: the node decides that it is late.
    if (!running) return;
    this.log(`lease of task ${held.task_id} lost; its handler is stopped`);
    this.#held.delete(keyOf(held));
    this.#running.delete(keyOf(held));
    this.#freed();
    running.lost.abort();
  }

  /** Reports the last endings and gives back the rest. */
  async #close(): Promise<void> {
    while (this.#ended.length > 0) await this.#report();
    for (const held of chunks([...this.#held.values()])) await this.client.release(held);
  }
}

function outcome(answer: unknown): Pick<Finish, "outcome" | "detail" | "at" | "retry_after_s"> {
  if (answer instanceof Again) return { outcome: "again", at: answer.at };
  if (answer instanceof GiveUp) return { outcome: "give_up", detail: answer.message };
  if (answer instanceof Retry) return { outcome: "retry", detail: answer.message, retry_after_s: ceil(answer.afterS) };
  if (answer instanceof Error) return { outcome: "retry", detail: `${answer.name}: ${answer.message}` };
  return { outcome: "done", detail: answer === undefined ? undefined : String(answer) };
}

/** Not before the wait is over. */
function ceil(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds);
}

function passes(error: unknown): error is AlmanackError {
  return error instanceof AlmanackError && error.transient;
}

function keyOf({ task_id, term }: Held): string {
  return `${task_id}.${term}`;
}

function chunks(held: Held[]): Held[][] {
  const count = Math.ceil(held.length / REPORT_MAX);
  return Array.from({ length: count }, (_, at) => held.slice(at * REPORT_MAX, (at + 1) * REPORT_MAX));
}
