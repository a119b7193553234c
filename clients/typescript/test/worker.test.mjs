/** Pull workers against a real node. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Again, GiveUp, Retry, Worker } from "@almanack/client";

import { LATER, NOW, client, eventually, fresh } from "./node.mjs";

const quiet = { log: () => {} };
const ended = (kind, subject, status, detail) =>
  eventually(async () => {
    const task = await client.get(kind, subject);
    return task.status === status && (detail === undefined || task.detail === detail) && task;
  });

test("wk_08 a worker ends tasks in every way", async () => {
  const subject = fresh("ways");
  for (const payload of ["done", "give up", "again", "retry"]) {
    await client.put("TS_WAYS", `${subject}:${payload}`, NOW, { payload });
  }
  const stop = new AbortController();
  const worker = new Worker(client, { name: "typescript", ...quiet }).handle("TS_WAYS", (task) => {
    switch (task.payload) {
      case "done":
        return "250 OK";
      case "give up":
        throw new GiveUp("no address");
      case "again":
        return new Again(LATER);
      default:
        throw new Retry("greylisted", 3600);
    }
  });
  const running = worker.run(stop.signal);
  assert.equal((await ended("TS_WAYS", `${subject}:done`, "SUCCESS", "250 OK")).node, "typescript");
  assert.equal((await ended("TS_WAYS", `${subject}:give up`, "FAIL", "no address")).live, false);
  assert.equal((await ended("TS_WAYS", `${subject}:retry`, "FAIL", "greylisted")).live, true);
  await eventually(async () => (await client.get("TS_WAYS", `${subject}:again`)).execute_at === LATER);
  stop.abort();
  await running;
});

test("wk_08 a worker gives back what does not end within the drain", async () => {
  const subject = fresh("drain");
  await client.put("TS_DRAIN", subject, NOW);
  const stop = new AbortController();
  let signalled = false;
  const worker = new Worker(client, { drainS: 0.05, ...quiet }).handle("TS_DRAIN", async (_, signal) => {
    signal.addEventListener("abort", () => (signalled = true));
    stop.abort();
    await new Promise(() => {});
  });
  await worker.run(stop.signal);
  const task = await client.get("TS_DRAIN", subject);
  assert.deepEqual([task.status, task.attempt, signalled], ["INIT", 0, true]);
});

test("wk_08 a worker extends the lease while a handler runs", async () => {
  const subject = fresh("slow");
  await client.put("TS_SLOW", subject, NOW);
  const stop = new AbortController();
  const worker = new Worker(client, { leaseS: 5, ...quiet }).handle("TS_SLOW", async (task) => {
    await eventually(async () => (await client.get("TS_SLOW", subject)).lease_until > task.lease_until, 20_000);
    return "extended";
  });
  const running = worker.run(stop.signal);
  await ended("TS_SLOW", subject, "SUCCESS", "extended");
  stop.abort();
  await running;
});

test("wk_08 a kind that is pushed ends the worker with a reason", async () => {
  const worker = new Worker(client, quiet).handle("CLIENT_PUSH", () => {});
  await assert.rejects(worker.run(new AbortController().signal), { status: 409 });
});

test("wk_08 kinds are held and tasks changed in bulk", async () => {
  assert.ok((await client.pauseKind("TS_HELD", { note: "deploy" })).paused);
  assert.ok((await client.kinds()).some((it) => it.kind === "TS_HELD"));
  assert.ok(!(await client.resumeKind("TS_HELD")).paused);
  const subject = fresh("bulk");
  for (const number of [0, 1, 2]) await client.put("TS_BULK", `${subject}:${number}`, LATER, { tags: ["nightly"] });
  const filter = { kind: "TS_BULK", subject_prefix: subject };
  const plan = await client.planBulk({ action: "cancel" }, filter);
  assert.equal(plan.would_change, 3);
  const { bulk_id } = await client.startBulk({ action: "cancel" }, filter, plan);
  await ended("TS_BULK", `${subject}:2`, "CANCELLED");
  assert.equal((await client.bulk(bulk_id)).bulk_id, bulk_id);
});
