/** Client of Almanack, the durable scheduler. */
export * from "./client.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./webhook.js";
export * from "./worker.js";
