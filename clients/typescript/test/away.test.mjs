/** What is repeated while a node is away, and what is not; against a node that answers as the test wants. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { Client, Worker } from "@almanack/client";

const NOW = "2026-01-05T08:00:00Z";
const AWAY = [503, { status: 503, code: "busy", detail: "try again", title: "Busy" }];
const RECEIPT = [201, { receipt: "1.0", rule: "created", kind: "K", subject: "s", task_id: 1, execute_at: NOW, revision: 0 }];
const inTurn = (...left) => () => (left.length > 1 ? left.shift() : left[0]);

/** Runs a test with a client of a node that answers so. */
async function withNode(answer, check) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const body = text ? JSON.parse(text) : undefined;
    asked.push({ path: request.url, body, key: request.headers["idempotency-key"] });
    const [status, data] = answer(request.url, body);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(data));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await check(new Client(`http://127.0.0.1:${server.address().port}`, { token: "alm_secret" }), asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a change is repeated under one key until the node is back", () =>
  withNode(inTurn(AWAY, AWAY, RECEIPT), async (client, asked) => {
    assert.equal((await client.put("K", "a/b c", NOW)).rule, "created");
    assert.deepEqual(asked.map((it) => it.path), Array(3).fill("/api/v1/tasks/K/a%2Fb%20c"));
    assert.equal(new Set(asked.map((it) => it.key)).size, 1);
    assert.ok(asked[0].key);
  }));

test("what would take effect twice is tried once", () =>
  withNode(inTurn(AWAY), async (client, asked) => {
    await assert.rejects(client.fireSchedule("nightly"), { code: "busy" });
    await assert.rejects(client.batch([{ kind: "K", subject: "s", execute_at: NOW }]), { code: "busy" });
    assert.equal(asked.length, 2);
    await assert.rejects(client.batch([{ kind: "K", subject: "s", execute_at: NOW }], { key: "mine" }), { code: "busy" });
    assert.equal(asked.length, 6);
  }));

test("wk_08 a worker waits for the node and drops no ending", async () => {
  const task = { task_id: 7, term: 1, kind: "MAIL_SEND", subject: "user:9", attempt: 1, payload: null };
  const claims = inTurn(AWAY, [200, { tasks: [task] }], [200, { tasks: [] }]);
  const done = [200, { tasks: [{ task_id: 7, term: 1, result: "applied" }] }];
  // More often than one call is repeated.
  const finishes = inTurn(...Array(5).fill(AWAY), done);
  const stop = new AbortController();
  const answer = (path) => {
    if (path.endsWith("/claim")) return claims();
    const answered = finishes();
    if (answered === done) stop.abort();
    return answered;
  };
  await withNode(answer, async (client, asked) => {
    await new Worker(client, { log: () => {} }).handle("MAIL_SEND", () => "250 OK").run(stop.signal);
    const reports = asked.filter((it) => it.path.endsWith("/finish")).map((it) => it.body.tasks);
    assert.deepEqual(reports, Array(6).fill([{ task_id: 7, term: 1, outcome: "done", detail: "250 OK" }]));
    assert.ok(!asked.some((it) => it.path.endsWith("/release")));
  });
});
