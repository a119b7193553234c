// A Cloudflare cron trigger that drives Almanack: every trigger is one signed `POST /tick`.
//
// Almanack decides what is due; this only wakes it. A call that failed is made again, a bounded number of
// times, under the same `webhook-id`: a pass that ran although its answer got lost is refused as a replay
// instead of being run twice. When nothing helps, the handler throws, so that Cloudflare records a failed
// trigger; the next one catches up. Neither the secret, nor the address, nor an answer's body is logged.

const ATTEMPTS_MAX = 3;
// The pass should end, and answer, before we stop listening.
const BUDGET_MS = 20_000;
const TIMEOUT_MS = 30_000;
const RETRY_WAIT_MS = 2_000;

export default {
  async scheduled(_trigger, env) {
    const id = `tick-${crypto.randomUUID()}`;
    const { ok, ...report } = await tick(id, env);
    const line = JSON.stringify({ tick: id, ok, ...report });
    if (ok) return console.log(line);
    console.error(line);
    throw new Error(`tick failed: ${report.outcome} (attempts: ${report.attempts})`);
  },

  // The worker needs no address; a request to one learns nothing.
  fetch: () => new Response(null, { status: 404 }),
};

async function tick(id, env) {
  const key = await importKey(env.ALMANACK_TICK_SECRET);
  if (!key) return { ok: false, outcome: "ALMANACK_TICK_SECRET is not whsec_ and base64", attempts: 0 };
  if (!URL.canParse(env.ALMANACK_URL)) return { ok: false, outcome: "ALMANACK_URL is not an address", attempts: 0 };
  for (let attempts = 1; ; attempts++) {
    const answer = await send(id, key, env.ALMANACK_URL);
    // Only a retry can meet its own trace: an earlier attempt arrived, and its answer did not.
    if (answer.status === 409 && attempts > 1) return { ok: true, outcome: "received before", attempts };
    if (!answer.retry || attempts === ATTEMPTS_MAX) {
      const { retry, status, ...report } = answer;
      return { ...report, attempts };
    }
    // 2 s, then 8 s: a node that is being replaced is back by then.
    const waitMs = Number(env.RETRY_WAIT_MS ?? RETRY_WAIT_MS) * 4 ** (attempts - 1);
    await new Promise((resume) => setTimeout(resume, waitMs));
  }
}

async function send(id, key, url) {
  const body = JSON.stringify({ budget_ms: BUDGET_MS });
  const timestamp = Math.floor(Date.now() / 1000);
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/tick`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": `v1,${await sign(key, `${id}.${timestamp}.${body}`)}`,
      },
      body,
      // What was signed goes only where it was meant to go.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return await read(response);
  } catch (error) {
    // Its message may name the address.
    return { ok: false, outcome: `no answer: ${error.name}`, retry: true };
  }
}

async function read(response) {
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    return { ok: false, outcome: `status ${status}`, status, retry: [408, 425, 429].includes(status) || status >= 500 };
  }
  // Any web page answers 200; only Almanack says when it ticked.
  const said = await response.json().catch(() => null);
  if (!said?.ticked_at) return { ok: false, outcome: "status 200, but not from Almanack", status, retry: false };
  const { fired, skipped, next_due_at } = said;
  return { ok: true, outcome: "ticked", status, retry: false, fired, skipped, next_due_at };
}

async function importKey(secret) {
  try {
    if (!secret.startsWith("whsec_")) return null;
    const bytes = Uint8Array.from(atob(secret.slice("whsec_".length)), (c) => c.charCodeAt(0));
    return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  } catch {
    return null;
  }
}

async function sign(key, content) {
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(content));
  return btoa(String.fromCharCode(...new Uint8Array(mac)));
}
