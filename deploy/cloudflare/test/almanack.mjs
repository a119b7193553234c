// A simulated Almanack on loopback. It checks signatures with its own code, from the published scheme,
// so that a mistake in the worker is not made twice.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";

export const TICKED = {
  status: 200,
  body: {
    ticked_at: "2026-01-05T08:00:00Z",
    fired: 3,
    skipped: 1,
    attempts: { done: 3, retry: 0, give_up: 0, again: 0 },
    next_due_at: "2026-01-05T08:10:00Z",
  },
};

/**
 * Answers one request after the other with `answers`, the last of them for ever. An answer `"drop"` breaks
 * the connection instead. `requests` holds what came, each with the verdict on its signature.
 */
export async function startAlmanack(secret, answers) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: body.toString(), signed: isSigned(secret, headers, body) });
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    if (answer === "drop") return request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function isSigned(secret, headers, body) {
  const sentAt = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(sentAt) || Math.abs(Date.now() / 1000 - Number(sentAt)) > 300) return false;
  const expected = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${headers["webhook-id"]}.${sentAt}.`)
    .update(body)
    .digest();
  const [version, given] = (headers["webhook-signature"] ?? "").split(",");
  const bytes = Buffer.from(given ?? "", "base64");
  return version === "v1" && bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
