/** The node that `dev/clients` starts, and small things around it. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { Client } from "@almanack/client";

assert.ok(process.env.ALMANACK_TEST_URL, "run dev/clients, or set ALMANACK_TEST_URL to a node started as it does");
export const client = new Client(process.env.ALMANACK_TEST_URL);
export const LATER = "2100-01-04T08:00:00Z";
export const NOW = "2020-01-01T00:00:00Z";

let drawn = 0;
/** A subject that no other test, and no earlier run, has. */
export const fresh = (about) => `${about}:${Date.now()}.${process.pid}.${drawn++}`;

/** Waits until something is found. */
export async function eventually(look, withinMs = 60_000) {
  const until = Date.now() + withinMs;
  while (Date.now() < until) {
    const found = await look();
    if (found) return found;
    await pause(20);
  }
  throw new Error(`did not happen within ${withinMs / 1000} s`);
}
