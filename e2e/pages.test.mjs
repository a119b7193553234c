// Every page, in both languages and themes: it opens, says nothing in the console, loads nothing from elsewhere, and can be
// used by everybody.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { cuts, fileName, habit, launch, lowContrasts, open, reader, shoot, stage, transferred, violations } from "./browser.mjs";

/* Every page of a busy node, and what a new user sees of an empty one. */
const PAGES = [
  ...stage.pages.map((path) => ({ path, url: stage.open + path, picture: fileName(path) })),
  ...stage.firstPages.map((path) => ({ path: `first ${path}`, url: stage.empty + path, picture: `first-${fileName(path)}` })),
];

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/* Every page is laid out at all of these, and judged by all rules at one of them: pages take turns, and the languages begin
   at different ones, so that each kind of page meets each width. */
const WIDTHS = [320, 390, 768, 1440];
const JUDGED = WIDTHS.slice(1);

for (const [begin, lang] of ["en", "zh-CN"].entries()) {
  describe(lang, () => {
    let context;
    before(async () => { context = await habit(browser, { lang }); });
    after(() => context.close());
    for (const [turn, { path, url, picture }] of PAGES.entries()) {
      test(path, async (t) => {
        const { page, seen } = await open(context);
        const at = (width) => page.setViewportSize({ width, height: 900 });
        const judged = JUDGED.map((_, place) => JUDGED[(begin + turn + place) % JUDGED.length]);
        await at(judged[0]);
        // A page that stays open keeps its stream, and a browser has few of them for one host.
        t.after(() => page.close());
        const answer = await page.goto(url);
        assert.equal(answer.status(), 200);
        assert.equal(await page.getAttribute("html", "lang"), lang);
        assert.equal(await page.locator("h1").count(), 1);
        if (lang === "en") await shoot(page, `${picture}.${lang}.light.${judged[0]}`);
        assert.deepEqual(await violations(page), [], `${judged[0]} px`);
        // The other theme has the same markup in other colours.
        await page.emulateMedia({ colorScheme: "dark" });
        await at(judged[1]);
        assert.deepEqual(await lowContrasts(page), [], `${judged[1]} px`);
        if (lang === "zh-CN") await shoot(page, `${picture}.${lang}.dark.${judged[1]}`);
        for (const width of WIDTHS) {
          await at(width);
          assert.deepEqual(await cuts(page), [], `${width} px`);
        }
        assert.deepEqual(seen.problems, []);
        assert.deepEqual(seen.foreign, []);
      });
    }
  });
}

describe("narrow, without scripts", () => {
  let context;
  before(async () => { context = await habit(browser, { width: 320, scripts: false }); });
  after(() => context.close());
  for (const { path, url, picture } of PAGES) {
    test(path, async (t) => {
      const { page, seen } = await open(context);
      t.after(() => page.close());
      await page.goto(url);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      await shoot(page, `${picture}.narrow`);
      assert.ok(width <= 320, `nothing sticks out, but the page is ${width} wide: ${await widest(page)}`);
      assert.ok((await page.locator("main").innerText()).length > 40, "the page says something");
      assert.deepEqual(seen.problems, []);
    });
  }
});

/** What sticks out of a narrow page. */
function widest(page) {
  return page.evaluate(() => {
    const inside = (element) => element.closest(".scroll, nav, pre, [class*=picture]");
    const wide = [...document.querySelectorAll("body *")].filter((it) => it.checkVisibility() && it.getBoundingClientRect().right > 321 && !inside(it));
    return wide.slice(0, 5).map((it) => it.outerHTML.slice(0, 120)).join("\n");
  });
}

test("a page that is not there says so, and how to go on", async () => {
  for (const path of ["/ui/nothing-is-here", "/ui/tasks/ARTICLE_PUBLISH/unknown", "/ui/schedules/unknown", "/ui/sources/999"]) {
    const { context, page } = await reader(browser);
    const answer = await page.goto(stage.open + path);
    assert.equal(answer.status(), 404, path);
    assert.equal(await page.locator("h1").count(), 1, path);
    assert.ok((await page.locator("nav a").count()) >= 8, "the ways to all pages");
    assert.deepEqual(await violations(page), [], path);
    await shoot(page, `missing-${fileName(path)}`);
    await context.close();
  }
});

test("a reader's zone is found out once, and kept", async () => {
  const { context, page, seen } = await reader(browser, { zone: "Asia/Shanghai", known: false });
  await page.goto(`${stage.open}/ui/tasks`);
  await page.locator("footer", { hasText: "Asia/Shanghai" }).waitFor();
  assert.deepEqual(seen.problems, []);
  await context.close();
});

test("the first page is small", async () => {
  const { context, page, seen } = await reader(browser);
  await page.goto(`${stage.open}/ui`, { waitUntil: "load" });
  const bytes = await transferred(seen);
  assert.ok(seen.answers.length >= 3, "the page, its style and its script were counted");
  assert.ok(bytes > 5_000 && bytes <= 30_000, `${bytes} bytes`);
  await context.close();
});
