// The worker as Cloudflare's own runtime runs it, against a simulated Almanack on loopback.

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test as register } from "node:test";
import { Miniflare } from "miniflare";
import { startAlmanack, TICKED } from "./almanack.mjs";

// A line that never comes is a failure, not a wait for ever.
const test = (name, body) => register(name, { timeout: 60_000 }, body);
const SECRET = `whsec_${Buffer.from("thirty-two bytes for the tests!!").toString("base64")}`;
const WORKER = fileURLToPath(new URL("../worker.js", import.meta.url));
const SETTINGS = readFileSync(new URL("../wrangler.toml", import.meta.url), "utf8");
const COMPATIBILITY_DATE = /^compatibility_date = "(.+)"$/m.exec(SETTINGS)[1];

/** What the worker wrote: everything as `text`, its own lines as `lines()`. */
class Log {
  text = "";
  #grown = new EventEmitter();

  listen = (stream) => stream.on("data", (chunk) => {
    this.text += chunk;
    this.#grown.emit("grown");
  });

  lines = () => this.text.split("\n").slice(0, -1).filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));

  /** A line travels by pipe and may come later than the outcome; disposing of the runtime would cut it off. */
  async atLeast(count) {
    while (this.lines().length < count) await once(this.#grown, "grown");
  }
}

/** Triggers the worker `triggers` times; answers what each came to, what Almanack was sent, and the log. */
async function run({ answers = [TICKED], secret = SECRET, triggers = 1, path = "", url }) {
  const almanack = await startAlmanack(SECRET, answers);
  const log = new Log();
  const bindings = { ALMANACK_URL: url ?? almanack.url + path, RETRY_WAIT_MS: "0" };
  if (secret !== null) bindings.ALMANACK_TICK_SECRET = secret;
  const miniflare = new Miniflare({
    modules: true,
    scriptPath: WORKER,
    compatibilityDate: COMPATIBILITY_DATE,
    bindings,
    cf: false, // else it would ask the network for a sample of request properties
    handleRuntimeStdio: (stdout, stderr) => [stdout, stderr].forEach(log.listen),
  });
  try {
    const worker = await miniflare.getWorker();
    const outcomes = [];
    for (let i = 0; i < triggers; i++) outcomes.push((await worker.scheduled({ cron: "*/10 * * * *" })).outcome);
    await log.atLeast(triggers);
    const visitor = await miniflare.dispatchFetch("http://worker.invalid/tick", { method: "POST" });
    return {
      outcomes,
      requests: almanack.requests,
      log: log.text,
      logged: log.lines(),
      visitorStatus: visitor.status,
      url: almanack.url,
    };
  } finally {
    await miniflare.dispose();
    await almanack.stop();
  }
}

const status = (code, headers) => ({ status: code, headers, body: { status: code } });

test("a trigger is one signed call, logged as one line", async () => {
  const { outcomes, requests, logged } = await run({});
  assert.deepEqual(outcomes, ["ok"]);
  assert.equal(requests.length, 1);
  const [request] = requests;
  assert.equal(`${request.method} ${request.url}`, "POST /tick");
  assert.equal(request.signed, true);
  assert.deepEqual(JSON.parse(request.body), { budget_ms: 20000 });
  assert.equal(logged.length, 1);
  const { tick, ...rest } = logged[0];
  assert.equal(tick, request.headers["webhook-id"]);
  assert.deepEqual(rest, {
    ok: true,
    outcome: "ticked",
    fired: 3,
    skipped: 1,
    next_due_at: "2026-01-05T08:10:00Z",
    attempts: 1,
  });
});

test("an address with a path and a slash at its end is called below it", async () => {
  const { requests } = await run({ path: "/almanack/" });
  assert.equal(requests[0].url, "/almanack/tick");
});

for (const [what, answer] of [["503", status(503)], ["429", status(429)], ["a broken connection", "drop"]]) {
  test(`after ${what} the same tick is sent again, signed anew`, async () => {
    const { outcomes, requests, logged } = await run({ answers: [answer, TICKED] });
    assert.deepEqual(outcomes, ["ok"]);
    assert.equal(requests.length, 2);
    assert.ok(requests.every((request) => request.signed));
    assert.equal(requests[0].headers["webhook-id"], requests[1].headers["webhook-id"]);
    assert.equal(logged.length, 1);
    assert.equal(logged[0].attempts, 2);
  });
}

test("a retry refused as a replay means that the tick had arrived", async () => {
  const { outcomes, requests, logged } = await run({ answers: ["drop", status(409)] });
  assert.deepEqual(outcomes, ["ok"]);
  assert.equal(requests.length, 2);
  assert.equal(logged[0].outcome, "received before");
});

test("after three failures the trigger is recorded as failed", async () => {
  const { outcomes, requests, logged } = await run({ answers: [status(503)] });
  assert.deepEqual(outcomes, ["exception"]);
  assert.equal(requests.length, 3);
  assert.equal(logged.length, 1);
  const { tick, ...rest } = logged[0];
  assert.equal(tick, requests[2].headers["webhook-id"]);
  assert.deepEqual(rest, { ok: false, outcome: "status 503", attempts: 3 });
});

for (const code of [400, 401, 403, 404, 409]) {
  test(`${code} is a refusal: not sent again, recorded as failed`, async () => {
    const { outcomes, requests, logged } = await run({ answers: [status(code), TICKED] });
    assert.deepEqual(outcomes, ["exception"]);
    assert.equal(requests.length, 1);
    assert.equal(logged[0].outcome, `status ${code}`);
  });
}

test("a redirect is not followed", async () => {
  const { outcomes, requests } = await run({ answers: [status(307, { location: "/elsewhere" }), TICKED] });
  assert.deepEqual(outcomes, ["exception"]);
  assert.deepEqual(requests.map((request) => request.url), ["/tick"]);
});

test("a web page is not taken for a tick", async () => {
  const { outcomes, requests, logged } = await run({ answers: [{ status: 200, body: "<html>hello</html>" }] });
  assert.deepEqual(outcomes, ["exception"]);
  assert.equal(requests.length, 1);
  assert.equal(logged[0].outcome, "status 200, but not from Almanack");
});

test("the next trigger is another tick", async () => {
  const { outcomes, requests } = await run({ triggers: 2 });
  assert.deepEqual(outcomes, ["ok", "ok"]);
  const ids = requests.map((request) => request.headers["webhook-id"]);
  assert.equal(ids.length, 2);
  assert.notEqual(ids[0], ids[1]);
  assert.ok(requests.every((request) => request.signed));
});

for (const [what, secret] of [["missing", null], ["without its prefix", SECRET.slice(6)], ["not base64", "whsec_*sesame*"]]) {
  test(`a secret that is ${what} stops the trigger before anything is sent`, async () => {
    const { outcomes, requests, log } = await run({ secret });
    assert.deepEqual(outcomes, ["exception"]);
    assert.equal(requests.length, 0);
    assert.ok(!log.includes(secret ?? "undefined"));
  });
}

test("a worker without an address says so", async () => {
  const { outcomes, logged } = await run({ url: "almanack.example.com" });
  assert.deepEqual(outcomes, ["exception"]);
  assert.equal(logged[0].outcome, "ALMANACK_URL is not an address");
});

test("neither the secret nor the address is ever logged", async () => {
  for (const answers of [[TICKED], [status(503)], [status(401)], ["drop"]]) {
    const { log, url, requests } = await run({ answers });
    assert.notEqual(log, "");
    const signatures = requests.map((request) => request.headers["webhook-signature"]);
    for (const hidden of [SECRET, SECRET.slice("whsec_".length), "thirty-two bytes", new URL(url).host, ...signatures]) {
      assert.ok(!log.includes(hidden), `${JSON.stringify(answers)}: the log shows ${hidden}`);
    }
  }
});

test("calling the worker does not cause a tick", async () => {
  const { visitorStatus, requests } = await run({ triggers: 0 });
  assert.equal(visitorStatus, 404);
  assert.equal(requests.length, 0);
});
