// Every page, in both languages and themes: it opens, says nothing in the console, loads nothing from elsewhere, and can be
// used by everybody.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileName, launch, reader, shoot, stage, violations } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

for (const lang of ["en", "zh-CN"]) {
  for (const theme of ["light", "dark"]) {
    describe(`${lang}, ${theme}`, () => {
      for (const path of stage.pages) {
        test(path, async () => {
          const { context, page, seen } = await reader(browser, { lang, theme });
          const answer = await page.goto(stage.open + path);
          assert.equal(answer.status(), 200);
          assert.equal(await page.getAttribute("html", "lang"), lang);
          assert.equal(await page.locator("h1").count(), 1);
          await shoot(page, `${fileName(path)}.${lang}.${theme}`);
          assert.deepEqual(await violations(page), []);
          assert.deepEqual(seen.problems, []);
          assert.deepEqual(seen.foreign, []);
          await context.close();
        });
      }
    });
  }
}

describe("narrow and without scripts", () => {
  for (const path of stage.pages) {
    test(path, async () => {
      const { context, page, seen } = await reader(browser, { width: 320, scripts: false });
      await page.goto(stage.open + path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth).catch(() => null);
      await shoot(page, `${fileName(path)}.narrow`);
      assert.deepEqual(seen.problems, []);
      assert.ok((await page.locator("main").innerText()).length > 40, "the page says something");
      await context.close();
      const scripted = await reader(browser, { width: 320 });
      await scripted.page.goto(stage.open + path);
      const width = await scripted.page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 320, `nothing sticks out, but ${path} is ${width} wide (${wide} without scripts)`);
      await scripted.context.close();
    });
  }
});

test("the first page is small", async () => {
  const { context, page, seen } = await reader(browser);
  await page.goto(`${stage.open}/ui`, { waitUntil: "load" });
  assert.ok(seen.bytes > 0 && seen.bytes < 60_000, `${seen.bytes} bytes`);
  await context.close();
});
