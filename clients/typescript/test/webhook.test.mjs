/** Verification of callbacks. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";

import express from "express";
import { Hono } from "hono";

import { Forged, Webhook } from "@almanack/client";
import { verified as expressVerified } from "@almanack/client/express";
import { verified as honoVerified } from "@almanack/client/hono";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const AT = 1614265330;
const BODY = '{"test": 2432232314}';
// The standard's own example.
const RIGHT = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": String(AT),
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

test("wk_08 a callback is verified as the standard says", async () => {
  const webhook = new Webhook(SECRET);
  for (const [headers, body, now, refused] of [
    [{}, BODY, AT],
    [{ "webhook-signature": `v1,AAAA ${RIGHT["webhook-signature"]}` }, BODY, AT],
    [{}, "{}", AT, /signature/],
    [{ "webhook-id": "x" }, BODY, AT, /signature/],
    [{ "webhook-signature": "v1,AAAA" }, BODY, AT, /signature/],
    [{ "webhook-signature": "" }, BODY, AT, /missing/],
    [{ "webhook-timestamp": "+1614265330" }, BODY, AT, /digits/],
    [{}, BODY, AT + 301, /five minutes/],
    [{}, BODY, AT - 301, /five minutes/],
  ]) {
    const all = { ...RIGHT, ...headers };
    const checked = webhook.verify((name) => all[name], new TextEncoder().encode(body), now);
    if (refused) await assert.rejects(checked, (error) => error instanceof Forged && refused.test(error.message));
    else await checked;
  }
});

test("a bad secret is refused", () => {
  for (const secret of ["", "plain", "whsec_", "whsec_c2hvcnQ=", "whsec_!!"]) {
    assert.throws(() => new Webhook(secret), /whsec_/);
  }
});

function signed() {
  const body = JSON.stringify({ task_id: 7, subject: "s" });
  const at = Math.floor(Date.now() / 1000);
  const mac = createHmac("sha256", Buffer.from(SECRET.slice(6), "base64")).update(`a.${at}.${body}`).digest("base64");
  return { method: "POST", body, headers: { "webhook-id": "a", "webhook-timestamp": `${at}`, "webhook-signature": `v1,${mac}` } };
}

test("wk_08 Express gets only genuine calls", async () => {
  const app = express();
  app.post("/publish", expressVerified(new Webhook(SECRET)), (request, response) => response.json(request.body.task_id));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const url = `http://127.0.0.1:${server.address().port}/publish`;
    assert.equal(await (await fetch(url, signed())).json(), 7);
    assert.equal((await fetch(url, { ...signed(), body: "{}" })).status, 401);
  } finally {
    server.close();
  }
});

test("wk_08 Hono gets only genuine calls", async () => {
  const app = new Hono();
  app.post("/publish", honoVerified(new Webhook(SECRET)), async (c) => c.json((await c.req.json()).task_id));
  assert.equal(await (await app.request("/publish", signed())).json(), 7);
  assert.equal((await app.request("/publish", { ...signed(), body: "{}" })).status, 401);
});
