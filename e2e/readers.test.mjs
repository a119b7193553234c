// Readers of editions: a page looks as it did when they come back.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, reader, stage, violations } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** What the page's own style makes of it; without it, a browser shows text from edge to edge. */
const looks = (page) => page.evaluate(() => {
  const { fontFamily, color } = getComputedStyle(document.body);
  const { maxWidth } = getComputedStyle(document.body.firstElementChild);
  return { maxWidth, fontFamily, color };
});

describe("a reader who comes back", () => {
  for (const path of ["/editions", "/editions/{date}"]) {
    test(path, async () => {
      const { context, page, seen } = await reader(browser);
      await page.goto(`${stage.open}/editions`);
      const link = await page.locator("ol.index a").first().getAttribute("href");
      const address = path === "/editions" ? `${stage.open}/editions` : new URL(link, stage.open).href;
      await page.goto("about:blank");
      await page.goto(address);
      const first = await looks(page);
      assert.notEqual(first.maxWidth, "none", "the page has a style");
      seen.answers.length = 0;
      for (let visit = 2; visit <= 3; visit += 1) {
        await page.goto("about:blank");
        await page.goto(address);
        assert.deepEqual(await looks(page), first, `visit ${visit}`);
      }
      assert.ok(seen.answers.length >= 2, "each visit asks again");
      assert.deepEqual(seen.problems, []);
      await context.close();
    });
  }
});

describe("a reader who cannot see, or reads on a phone", () => {
  for (const path of ["/editions", "/editions/{date}", "/editions/search?q=story"]) {
    test(path, async () => {
      const { context, page, seen } = await reader(browser);
      await page.setViewportSize({ width: 360, height: 800 });
      await page.goto(`${stage.open}/editions`);
      const link = await page.locator("ol.index a").first().getAttribute("href");
      const address = path === "/editions/{date}" ? new URL(link, stage.open).href : `${stage.open}${path}`;
      await page.goto(address);
      for (const folded of await page.locator("details").all()) await folded.evaluate((it) => { it.open = true; });
      assert.deepEqual(await violations(page), []);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.equal(beyond, 0, "nothing sticks out");
      assert.deepEqual(seen.problems, []);
      await context.close();
    });
  }
});
