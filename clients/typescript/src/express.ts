/**
 * Verification of callbacks as middleware for Express (or any `node:http` handler).
 *
 * Put it before anything that reads the body: `app.post("/callbacks/publish", verified(webhook), …)`.
 * What it lets through has the call in `request.body`.
 */

import { Forged, type Webhook } from "./webhook.js";

/** What is used of a request. */
export interface IncomingRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
}

/** What is used of a response. */
export interface OutgoingResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/** Largest body that is read: a payload is at most 1 MiB. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** Passes on what is signed with the secret and recent; answers 401 to anything else. */
export function verified(webhook: Webhook) {
  return async (request: IncomingRequest, response: OutgoingResponse, next: (error?: unknown) => void) => {
    try {
      const body = request.body instanceof Uint8Array ? request.body : await bytes(request);
      request.body = await webhook.read((name) => request.headers[name]?.toString(), body);
    } catch (error) {
      if (!(error instanceof Forged)) return next(error);
      response.statusCode = 401;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ code: "bad_signature", message: error.message }));
      return;
    }
    next();
  };
}

async function bytes(request: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > BODY_BYTES_MAX) throw new Forged("the body is too large");
    parts.push(part);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
