/** The client against a real node. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, Refused, Unreachable } from "@almanack/client";

import { LATER, client, fresh } from "./node.mjs";

const KIND = "CLIENT_PUSH";
const LATER_STILL = new Date("2100-01-04T09:00:00Z");

test("wk_08 a task is put, moved, read and withdrawn", async () => {
  const subject = fresh("task/with a slash");
  const created = await client.put(KIND, subject, LATER, { payload: { n: 1 }, revision: 1, priority: 7 });
  assert.equal(created.rule, "created");
  const moved = await client.reschedule(KIND, subject, LATER_STILL, { revision: 2 });
  assert.deepEqual([moved.rule, moved.old_execute_at], ["updated", LATER]);
  const task = await client.get(KIND, subject);
  assert.deepEqual([task.status, task.live, task.payload, task.priority], ["INIT", true, { n: 1 }, 7]);
  assert.deepEqual((await client.list({ kind: KIND, subject_prefix: subject })).tasks, [task]);
  assert.equal((await client.receipt(created.receipt)).kept, "superseded");
  const rules = (await client.history(KIND, subject)).events.map((it) => it.rule);
  assert.deepEqual(rules, ["created", "updated"]);
  assert.equal((await client.cancel(KIND, subject, { revision: 3 })).rule, "cancelled");
  assert.equal((await client.cancel(KIND, subject, { revision: 2 })).rule, "ignored_stale");
  assert.equal(await client.find(KIND, `${subject}:none`), undefined);
});

test("wk_08 many are put at once and each is answered", async () => {
  const subject = fresh("batch");
  const good = { kind: KIND, subject, execute_at: LATER, revision: 1 };
  const [first, second] = await client.batch([good, { kind: "CLIENT_UNKNOWN", subject, execute_at: LATER }]);
  assert.equal(first.rule, "created");
  assert.ok(second instanceof Refused);
  assert.equal(second.code, "unknown_kind");
  assert.match(second.hint, /CLIENT_PUSH/);
  const key = fresh("key");
  assert.deepEqual(await client.batch([good], { key }), await client.batch([good], { key }));
});

test("wk_08 changes are sent as events", async () => {
  const about = { source: "/test", kind: KIND, subject: fresh("event") };
  const answers = await client.sendEvents([
    { ...about, id: "1", revision: 1, execute_at: LATER, payload: { n: 2 }, callback: "https://example.org/publish" },
    { ...about, id: "2", revision: 2 },
  ]);
  assert.deepEqual(answers.map((it) => it.rule), ["created", "cancelled"]);
  assert.equal((await client.get(KIND, about.subject)).origin, "event:/test");
});

test("wk_08 a schedule is written, paused, fired and removed", async () => {
  const name = fresh("schedule").replace(":", "-");
  const definition = { expression: "0 8 1 1 *", target: { type: "task", kind: KIND, subject: name } };
  const written = await client.putSchedule(name, definition, { revision: 0 });
  assert.deepEqual([written.state, written.revision], ["active", 1]);
  await assert.rejects(client.putSchedule(name, definition, { revision: 0 }), { code: "revision_mismatch" });
  const paused = await client.pauseSchedule(name, { until: LATER, note: "holidays" });
  assert.equal(paused.paused.note, "holidays");
  assert.equal((await client.resumeSchedule(name)).state, "active");
  assert.equal((await client.fireSchedule(name)).kind, "DISPATCH");
  assert.equal((await client.schedule(name)).definition.expression, "0 8 1 1 *");
  assert.ok((await client.schedules({ origin: "api" })).schedules.some((it) => it.name === name));
  assert.equal((await client.removeSchedule(name)).state, "removed");
});

test("wk_08 a refusal says what and why", async () => {
  const subject = fresh("refused");
  await assert.rejects(client.put(KIND, subject, LATER, { priority: 11 }), (error) => {
    assert.ok(error instanceof Refused);
    assert.equal(error.code, "invalid_value");
    assert.match(error.detail, /priority must be 0 to 9/);
    return true;
  });
  assert.equal(await client.find(KIND, subject), undefined);
});

test("no answer is unreachable, and no secret is shown", async () => {
  const away = new Client("http://127.0.0.1:1", { token: "alm_secret" });
  await assert.rejects(away.fireSchedule("nightly"), (error) => {
    assert.ok(error instanceof Unreachable);
    assert.doesNotMatch(`${error} ${JSON.stringify(error)} ${JSON.stringify(away)}`, /alm_secret/);
    return true;
  });
  assert.throws(() => new Client("https://me:hush@node.example"), (error) => !/hush/.test(error.message));
});
