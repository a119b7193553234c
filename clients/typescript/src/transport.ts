/**
 * One call: its address, its token, its answer, and whether it may be repeated.
 *
 * A call is repeated only if that is harmless: a read, a change whose revision or idempotency key
 * the node recognises, an ending that is fenced by its term.
 */

import { AlmanackError, Refused, Unexpected, Unreachable } from "./errors.js";

const TRIES_MAX = 4;
const WAIT_FIRST_MS = 200;
/** A node that asks for more has to be asked again by the caller. */
const WAIT_MAX_MS = 5_000;

export interface Request {
  method: "GET" | "PUT" | "POST" | "DELETE";
  path: string;
  repeat: boolean;
  query?: object;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface Options {
  /** As `almanack token create` showed it. */
  token?: string;
  /** How long one try may take. Default: 35,000; a node gives up after 30 s by itself. */
  timeoutMs?: number;
}

export class Transport {
  readonly #base: string;
  readonly #token: string | undefined;
  readonly #timeoutMs: number;

  constructor(address: string, options: Options) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
      // What is refused may contain a password.
      throw new TypeError("not the address of a node; write scheme, host and port: https://almanack.example.org");
    }
    this.#base = url.href.replace(/\/+$/, "");
    this.#token = options.token?.trim();
    this.#timeoutMs = options.timeoutMs ?? 35_000;
  }

  /** Sends it, again if that is harmless and may help. */
  async send<T>(request: Request): Promise<T> {
    for (let tries = 1; ; tries++) {
      let response: Response | undefined;
      try {
        response = await this.#fetch(request);
        return await read<T>(response);
      } catch (error) {
        const asked = Number(response?.headers.get("retry-after") ?? Number.NaN) * 1000;
        const wait = Number.isFinite(asked) ? asked : backoff(tries);
        const passing = error instanceof AlmanackError && error.transient;
        if (!request.repeat || !passing || tries >= TRIES_MAX || wait > WAIT_MAX_MS) throw error;
        await pause(wait, request.signal);
      }
    }
  }

  async #fetch(request: Request): Promise<Response> {
    const url = new URL(this.#base + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, written(value));
    }
    const headers = new Headers();
    if (this.#token) headers.set("authorization", `Bearer ${this.#token}`);
    if (request.body !== undefined) headers.set("content-type", "application/json");
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      if (value !== undefined) headers.set(name, value);
    }
    const limit = AbortSignal.timeout(request.timeoutMs ?? this.#timeoutMs);
    const signal = request.signal ? AbortSignal.any([limit, request.signal]) : limit;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    try {
      return await fetch(url, { method: request.method, headers, body, signal, redirect: "manual" });
    } catch (error) {
      throw new Unreachable(error);
    }
  }
}

async function read<T>(response: Response): Promise<T> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new Unreachable(error);
  }
  let answer: any;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Unexpected(response.status);
  }
  if (response.ok) return answer;
  if (typeof answer?.code === "string") throw new Refused({ ...answer, status: response.status });
  throw new Unexpected(response.status);
}

function written(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

/** How long to wait after so many tries: between half and all of what doubles each time. */
export function backoff(tries: number): number {
  const most = Math.min(WAIT_FIRST_MS * 2 ** Math.min(tries - 1, 10), WAIT_MAX_MS);
  return most * (0.5 + Math.random() / 2);
}

/** Waits; a signal ends the wait early. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
