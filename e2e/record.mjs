// Makes the README's pictures from a running demo: a still of the first page, and frames of a walk through the dashboard.
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

await page.goto(`${base}/ui`);
await page.waitForTimeout(1_500);
await page.screenshot({ path: join(folder, "today.png") });
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
await browser.close();
