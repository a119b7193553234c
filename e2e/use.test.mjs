// People at work: pages stay live, times are moved by mouse and by keyboard, keys lead around.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, reader, shoot, stage } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** Puts a task by the API, as somebody else would meanwhile. */
async function put(subject, execute_at) {
  const answer = await fetch(`${stage.open}/api/v1/tasks/ARTICLE_PUBLISH/${encodeURIComponent(subject)}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ execute_at }),
  });
  assert.ok(answer.ok, await answer.text());
}

describe("live", () => {
  test("what changes elsewhere arrives without a reload, and not while it is paused", async () => {
    const { context, page, seen } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks`);
    await put("live:one", "2027-01-01T00:00:00Z");
    await page.getByRole("link", { name: "live:one" }).waitFor();
    const live = page.locator("#live");
    await live.click();
    assert.equal(await live.getAttribute("aria-pressed"), "true");
    await put("live:two", "2027-01-01T00:00:00Z");
    const other = await reader(browser);
    await other.page.goto(`${stage.open}/ui/tasks`);
    await other.page.getByRole("link", { name: "live:two" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "live:two" }).count(), 0, "paused means paused");
    await live.click();
    await page.getByRole("link", { name: "live:two" }).waitFor();
    assert.deepEqual(seen.problems, []);
    await context.close();
    await other.context.close();
  });

  test("a field that somebody fills in is left alone", async () => {
    const { context, page } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks`);
    await page.locator("[data-search]").fill("half a wo");
    await put("live:three", "2027-01-01T00:00:00Z");
    await page.getByRole("link", { name: "live:three" }).waitFor();
    assert.equal(await page.locator("[data-search]").inputValue(), "half a wo");
    await context.close();
  });
});

describe("moving a task", () => {
  test("by mouse", async () => {
    await put("move:mouse", "2027-02-01T00:00:00Z");
    const { context, page, seen } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:mouse`);
    const form = page.locator("form[data-move]");
    await form.locator("input[type=datetime-local]").fill("2027-02-02T09:30");
    await form.locator("input[name=zone]").fill("Asia/Shanghai");
    await form.locator("button[type=submit]").click();
    await page.locator(".notice").waitFor();
    assert.match(await page.locator(".notice").innerText(), /updated/i, "the rule that applied is named");
    assert.ok((await page.content()).includes("2027-02-02T01:30:00Z"), "09:30 in Shanghai is 01:30 UTC");
    await shoot(page, "moved");
    assert.deepEqual(seen.problems, []);
    await context.close();
  });

  test("by keyboard alone", async () => {
    await put("move:keys", "2027-02-01T00:00:00Z");
    const { context, page } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:keys`);
    const field = page.locator("form[data-move] input[type=datetime-local]");
    for (let steps = 0; steps < 80 && !(await field.evaluate((it) => it === document.activeElement)); steps += 1) {
      await page.keyboard.press("Tab");
    }
    assert.ok(await field.evaluate((it) => it === document.activeElement), "the field is reached by Tab");
    await page.keyboard.type("02032027");
    await page.keyboard.press("Tab");
    await page.keyboard.type("101500AM");
    await page.keyboard.press("Enter");
    await page.locator(".notice").waitFor();
    assert.match(await page.locator(".notice").innerText(), /updated/i);
    await context.close();
  });

  test("without scripts", async () => {
    await put("move:plain", "2027-02-01T00:00:00Z");
    const { context, page } = await reader(browser, { scripts: false });
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:plain`);
    const form = page.locator("form[data-move]");
    await form.locator("input[type=datetime-local]").fill("2027-02-04T10:00");
    await form.locator("button[type=submit]").click();
    assert.match(await page.locator(".notice").innerText(), /updated/i);
    await context.close();
  });
});

test("keys lead around", async () => {
  const { context, page } = await reader(browser);
  await page.goto(`${stage.open}/ui`);
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForURL("**/ui/tasks");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.locator("tr.here").count(), 1);
  await page.keyboard.press("/");
  assert.ok(await page.locator("[data-search]").evaluate((it) => it === document.activeElement));
  await page.keyboard.press("Escape");
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").evaluate((it) => it.open));
  await shoot(page, "keys");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#keys").evaluate((it) => it.open)));
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForURL("**/ui/tasks/*/*");
  await context.close();
});

test("language and theme are the reader's choice", async () => {
  const { context, page } = await reader(browser);
  await page.goto(`${stage.open}/ui/schedules`);
  await page.locator("details.menu > summary").click();
  await page.locator("select[name=lang]").selectOption("zh-CN");
  await page.locator("select[name=theme]").selectOption("dark");
  await page.locator("details.menu button[type=submit]").click();
  await page.waitForURL("**/ui/schedules");
  assert.equal(await page.getAttribute("html", "lang"), "zh-CN");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await context.close();
});

test("an expression is explained while it is typed", async () => {
  const { context, page, seen } = await reader(browser);
  await page.goto(`${stage.open}/ui/schedules/try`);
  await page.locator("form[data-try] input[name=expression]").fill("0 8 * * 1-5");
  await page.getByText("Monday", { exact: false }).first().waitFor();
  await page.locator("form[data-try] input[name=expression]").fill("0 25 * * *");
  await page.locator(".wrong").waitFor();
  assert.deepEqual(seen.problems, []);
  await context.close();
});
