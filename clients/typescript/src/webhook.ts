/**
 * Callbacks: what a call says, and whether it is Almanack's, unaltered and just now.
 *
 * Standard Webhooks: HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`.
 */

/** How far a call's time may be from ours, in seconds. */
const TOLERANCE_S = 300;
/** Signatures looked at: a sender that changes its secret sends two. */
const SIGNATURES_MAX = 8;

/** Why a call is not accepted. Never shows the secret, and nothing that helps to forge a call. */
export class Forged extends Error {
  override name = "Forged";
}

/** The body of a callback. */
export interface Call {
  task_id: number;
  kind: string;
  subject: string;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** A smaller one than you have seen comes from a node that was thought dead. */
  term: number;
  revision: number;
  execute_at: string;
  payload: any;
}

/** Looks up a header by its name in lower case. */
export type HeaderOf = (name: string) => string | null | undefined;

/** Knows the secret, `whsec_…`. */
export class Webhook {
  readonly #key: Promise<CryptoKey>;

  constructor(secret: string) {
    const key = decode(/^whsec_(.+)$/.exec(secret.trim())?.[1] ?? "");
    if (!key || key.length < 24 || key.length > 64) {
      throw new TypeError("a webhook secret is `whsec_` followed by the base64 of 24 to 64 random bytes");
    }
    this.#key = crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  }

  /** Throws `Forged` unless the call is genuine and of about now. `body` is every byte as it came. */
  async verify(header: HeaderOf, body: Uint8Array, now = Date.now() / 1000): Promise<void> {
    const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
      const value = header(name);
      if (!value) throw new Forged(`the header ${name} is missing`);
      return value;
    }) as [string, string, string];
    if (!/^[\x21-\x7e]{1,200}$/.test(id)) throw new Forged("webhook-id must be 1 to 200 visible ASCII characters");
    if (!/^(0|[1-9]\d{0,15})$/.test(timestamp)) {
      throw new Forged("webhook-timestamp must be the seconds since 1970, in digits");
    }
    if (Math.abs(now - Number(timestamp)) > TOLERANCE_S) {
      throw new Forged("webhook-timestamp is more than five minutes away from this machine's time");
    }
    const head = new TextEncoder().encode(`${id}.${timestamp}.`);
    const signed = new Uint8Array(head.length + body.length);
    signed.set(head);
    signed.set(body, head.length);
    const key = await this.#key;
    for (const signature of signatures.split(" ").slice(0, SIGNATURES_MAX)) {
      const given = signature.startsWith("v1,") ? decode(signature.slice(3)) : undefined;
      // Compares in constant time.
      if (given && (await crypto.subtle.verify("HMAC", key, given, signed))) return;
    }
    throw new Forged("webhook-signature does not fit; it covers the id, the timestamp and the exact body");
  }

  /** Verifies and reads a call. */
  async read(header: HeaderOf, body: Uint8Array, now?: number): Promise<Call> {
    await this.verify(header, body, now);
    return JSON.parse(new TextDecoder().decode(body));
  }
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
