/**
 * Articles that are published at their time.
 *
 * Almanack decides when to try; this service decides whether it takes effect. The article's own state
 * makes a repeated call harmless: only one that waits is published. In a database this is
 * `update article set state = 'PUBLISHED' where id = $1 and state = 'WAITING'`.
 */

import express from "express";

import { Client, Webhook } from "@almanack/client";
import { verified } from "@almanack/client/express";

const { LISTEN = "127.0.0.1:8090", ALMANACK_SERVER = "http://127.0.0.1:8080", ALMANACK_TOKEN } = process.env;
const webhook = new Webhook(process.env.ALMANACK_WEBHOOK_SECRET ?? "");
const almanack = new Client(ALMANACK_SERVER, { token: ALMANACK_TOKEN });
/** @type {Map<string, { state: "WAITING" | "PUBLISHED", revision: number, published: number }>} */
const articles = new Map();
const app = express();

/** Writes an article, or changes when it is published. */
app.put("/articles/:id", express.json(), async (request, response) => {
  const { id } = request.params;
  const article = articles.get(id) ?? { state: "WAITING", revision: 0, published: 0 };
  articles.set(id, article);
  article.revision += 1;
  try {
    const { rule } = await almanack.put("ARTICLE_PUBLISH", `article:${id}`, request.body.publish_at, {
      revision: article.revision,
      callback: `http://${LISTEN}/callbacks/publish`,
    });
    response.json({ rule });
  } catch (error) {
    response.status(502).json({ message: error.message });
  }
});

app.get("/articles/:id", (request, response) => {
  const article = articles.get(request.params.id);
  if (article) response.json(article);
  else response.status(404).json({ message: "no such article" });
});

/** For Almanack. May come twice. */
app.post("/callbacks/publish", verified(webhook), (request, response) => {
  const article = articles.get(request.body.subject.replace("article:", ""));
  const took_effect = article?.state === "WAITING";
  if (took_effect) {
    article.state = "PUBLISHED";
    article.published += 1;
  }
  response.json({ took_effect });
});

const [host, port] = LISTEN.split(":");
app.listen(Number(port), host);
