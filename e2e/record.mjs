// Makes pictures of the dashboard from a running demo: stills of its pages, and frames of a walk through them.
//
//   node e2e/record.mjs http://127.0.0.1:PORT FOLDER      (dev/readme-pictures does all of it)
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [, , base, folder] = process.argv;
if (!base || !folder) throw new Error("usage: record.mjs BASE FOLDER");
mkdirSync(folder, { recursive: true });

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 1120, height: 700 }, colorScheme: "light", locale: "en", timezoneId: "UTC" });
const page = await context.newPage();
let frame = 0;

/** Looks on for a while, a picture every half second. */
async function watch(pictures) {
  for (let count = 0; count < pictures; count += 1) {
    await page.screenshot({ path: join(folder, `frame-${String(frame).padStart(3, "0")}.png`) });
    frame += 1;
    await page.waitForTimeout(500);
  }
}

/** A still of a page, as somebody with these habits sees it; `open` is a link to follow first. */
async function still(name, path, habits = {}, open = null) {
  const { width = 1200, height = 900, theme = "light", lang = "en" } = habits;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale: lang, timezoneId: "Europe/Berlin" });
  const page = await context.newPage();
  await page.goto(base + path);
  if (open) await page.locator(open).first().click();
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(folder, `still-${name}.png`) });
  await context.close();
}

await page.goto(`${base}/ui`);
await page.waitForTimeout(1_500);
await watch(10);
await page.goto(`${base}/ui/schedules`);
await watch(5);
await page.goto(`${base}/ui/editions`);
await page.locator("a[data-open]").first().click();
await watch(8);
await page.goto(`${base}/ui/sources`);
await page.locator("a[data-open]").first().click();
await watch(5);
await page.goto(`${base}/ui/tasks?kind=ARTICLE_PUBLISH`);
await page.locator("a[data-open]").first().click();
await watch(6);
const row = "tr[data-row] a[data-open]";
await still("today", "/ui");
await still("today-zh", "/ui", { lang: "zh-CN" });
await still("today-phone", "/ui", { width: 390, height: 844 });
await still("tasks", "/ui/tasks");
await still("task", "/ui/tasks?kind=ARTICLE_PUBLISH&status=SUCCESS", { height: 1040 }, row);
await still("schedules", "/ui/schedules", { height: 750 });
await still("schedule", "/ui/schedules/partner-sync", { theme: "dark" });
await still("source", "/ui/sources", { height: 1000 }, row);
await still("edition", "/ui/editions", {}, "a[data-open]");
await browser.close();
