/**
 * Verification of callbacks as middleware for Hono.
 *
 * `app.post("/callbacks/publish", verified(webhook), async (c) => { const call = await c.req.json(); … })`
 */

import { Forged, type Webhook } from "./webhook.js";

/** What is used of Hono's context. */
export interface Context {
  req: { header(name: string): string | undefined; arrayBuffer(): Promise<ArrayBuffer> };
  json(body: object, status: 401): any;
}

/** Passes on what is signed with the secret and recent; answers 401 to anything else. */
export function verified(webhook: Webhook) {
  return async (c: Context, next: () => Promise<void>): Promise<any> => {
    try {
      await webhook.verify((name) => c.req.header(name), new Uint8Array(await c.req.arrayBuffer()));
    } catch (error) {
      if (!(error instanceof Forged)) throw error;
      return c.json({ code: "bad_signature", message: error.message }, 401);
    }
    await next();
  };
}
