// People at work: pages stay live, times are moved by mouse and by keyboard, keys lead around.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, reader, shoot, stage, violations } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** Puts a task by the API, as another client would meanwhile. */
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

  test("what is typed narrows the list and stays, whatever arrives", async () => {
    const { context, page } = await reader(browser);
    await put("live:other", "2027-01-01T00:00:00Z");
    await page.goto(`${stage.open}/ui/tasks`);
    await page.locator("[data-search]").fill("live:thr");
    await page.getByRole("link", { name: "live:other" }).waitFor({ state: "detached" });
    await put("live:three", "2027-01-01T00:00:00Z");
    await page.getByRole("link", { name: "live:three" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "live:other" }).count(), 0, "what arrives is narrowed, too");
    assert.equal(await page.locator("[data-search]").inputValue(), "live:thr");
    await context.close();
  });
});

describe("at hand", () => {
  test("rows stay where they are under the pointer, and what is new waits", async () => {
    await put("pill:one", "2027-01-01T00:00:00Z");
    const { context, page, seen } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks?q=pill:`);
    await page.getByRole("link", { name: "pill:one" }).hover();
    await put("pill:two", "2027-01-01T00:00:00Z");
    const pill = page.getByRole("button", { name: "1 new" });
    await pill.waitFor();
    const arrived = page.getByRole("link", { name: "pill:two" });
    assert.equal(await arrived.count(), 0, "not while somebody points at the list");
    await pill.click();
    await arrived.waitFor();
    assert.equal(await pill.count(), 0);
    await page.getByRole("link", { name: "pill:one" }).hover();
    await put("pill:three", "2027-01-01T00:00:00Z");
    await pill.waitFor();
    await page.mouse.move(0, 0);
    await page.getByRole("link", { name: "pill:three" }).waitFor();
    assert.deepEqual(seen.problems, []);
    await context.close();
  });

  test("a page that is not kept up to date says so, and how old it is", async () => {
    const { context, page } = await reader(browser);
    await page.route("**/ui/live*", (route) => route.abort());
    await page.goto(`${stage.open}/ui/tasks`);
    await page.locator("#stale", { hasText: / s ago/ }).waitFor();
    await page.unroute("**/ui/live*");
    await page.locator("#stale").waitFor({ state: "hidden" });
    await context.close();
  });

  test("a task's actions are those that still apply", async () => {
    await put("acts:one", "2027-01-01T00:00:00Z");
    const { context, page } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/acts:one`);
    const cancel = page.locator("#acts a[href$='/cancel']");
    await cancel.waitFor();
    const answer = await fetch(`${stage.open}/api/v1/tasks/ARTICLE_PUBLISH/acts:one`, { method: "DELETE" });
    assert.ok(answer.ok, await answer.text());
    await cancel.waitFor({ state: "detached" });
    await context.close();
  });

  test("on a phone, the page's tab and the present are in view", async () => {
    const { context, page } = await reader(browser, { width: 390 });
    const isWithin = (outer, inner) => page.evaluate(([outer, inner]) => {
      const [box, it] = [outer, inner].map((one) => document.querySelector(one).getBoundingClientRect());
      return it.left >= box.left - 1 && it.right <= box.right + 1;
    }, [outer, inner]);
    for (const path of ["/ui", "/ui/editions", "/ui/kinds", "/ui/nodes", "/ui/activity", "/ui/settings"]) {
      await page.goto(stage.open + path);
      assert.ok(await isWithin(".top nav", ".top nav [aria-current]"), path);
    }
    await page.goto(`${stage.open}/ui`);
    assert.ok(await isWithin(".picture .scroll:has(.ribbon)", ".ribbon path.now"), "now");
    await context.close();
  });
});

describe("moving a task", () => {
  const typed = (page) => page.locator("section[aria-labelledby=change-title] input[type=datetime-local]");
  const settle = (page) => page.locator("#change form button[type=submit]");

  test("by mouse, in any zone", async () => {
    await put("move:mouse", "2027-02-01T00:00:00Z");
    const { context, page, seen } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:mouse`);
    await typed(page).fill("2027-02-02T09:30:00");
    await page.locator("section[aria-labelledby=change-title] input[name=zone]").fill("Asia/Shanghai");
    await page.locator("#change", { hasText: "09:30:00 CST" }).waitFor();
    await settle(page).click();
    await settled(page);
    assert.equal(await due("move:mouse"), "2027-02-02T01:30:00Z", "09:30 in Shanghai is 01:30 UTC");
    await shoot(page, "moved");
    assert.deepEqual(seen.problems, []);
    await context.close();
  });

  test("by keyboard alone", async () => {
    await put("move:keys", "2027-02-01T00:00:00Z");
    const { context, page } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:keys`);
    await reach(page, typed(page));
    await page.keyboard.type("02032027");
    await page.keyboard.press("Tab");
    await page.keyboard.type("101500AM");
    await page.locator("#change", { hasText: "3 Feb 2027 10:15:00 CET" }).waitFor();
    await reach(page, settle(page));
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await due("move:keys"), "2027-02-03T09:15:00Z", "10:15 in Berlin");
    await context.close();
  });

  test("without scripts", async () => {
    await put("move:plain", "2027-02-01T00:00:00Z");
    const { context, page } = await reader(browser, { scripts: false });
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:plain`);
    await typed(page).fill("2027-02-04T10:00:00");
    await page.locator("section[aria-labelledby=change-title] form button[type=submit]").first().click();
    await settle(page).click();
    await settled(page);
    assert.equal(await due("move:plain"), "2027-02-04T09:00:00Z");
    await context.close();
  });

  test("a time that exists twice is asked about", async () => {
    await put("move:twice", "2027-02-01T00:00:00Z");
    const { context, page } = await reader(browser);
    await page.goto(`${stage.open}/ui/tasks/ARTICLE_PUBLISH/move:twice?at=2026-10-25T02:30:00&zone=Europe/Berlin`);
    assert.equal(await settle(page).count(), 2);
    await settle(page).nth(1).click();
    await settled(page);
    assert.equal(await due("move:twice"), "2026-10-25T01:30:00Z");
    await context.close();
  });

  /** When a task is due, by the API. */
  async function due(subject) {
    const answer = await fetch(`${stage.open}/api/v1/tasks/ARTICLE_PUBLISH/${subject}`);
    return (await answer.json()).execute_at;
  }

  /** The receipt that the page shows names the rule that applied. */
  async function settled(page) {
    const notice = page.locator(".notice");
    await notice.waitFor();
    assert.match(await notice.innerText(), /updated/i);
  }

  /** Walks by Tab until something has the focus. */
  async function reach(page, wanted) {
    const there = () => wanted.evaluate((it) => it === document.activeElement);
    for (let steps = 0; steps < 80 && !(await there()); steps += 1) await page.keyboard.press("Tab");
    assert.ok(await there(), "it is reached by Tab");
  }
});

test("a call is tried from the API reference, and a change asks first", async () => {
  const { context, page, seen } = await reader(browser);
  await page.goto(`${stage.open}/ui/api/kinds`);
  const list = page.locator("#list_kinds .try");
  await list.locator("summary").click();
  await list.getByRole("button", { name: "Send" }).click();
  await list.locator("[data-status]", { hasText: "200" }).waitFor();
  assert.match(await list.locator("[data-headers]").innerText(), /content-type: application\/json/);
  assert.match(await list.locator("[data-body]").innerText(), /"kind": "ARTICLE_PUBLISH"/);
  await shoot(page, "api-tried");

  const asked = [];
  page.on("dialog", (dialog) => { asked.push(dialog.message()); dialog.dismiss(); });
  const pause = page.locator("#pause_kind .try");
  await pause.locator("summary").click();
  await pause.getByRole("button", { name: "Send" }).click();
  assert.match(asked.join(), /Really send POST/);
  assert.ok(await pause.locator(".answer").isHidden(), "nothing was sent");
  assert.deepEqual(seen.problems, []);
  await context.close();
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
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  assert.equal(await page.locator("tr.here input[type=checkbox]:checked").count(), 1, "the row is selected");
  await page.keyboard.press("x");
  await page.keyboard.press("f");
  assert.ok(await page.locator("main [data-search]").evaluate((it) => it === document.activeElement));
  await page.keyboard.press("Escape");
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").evaluate((it) => it.open));
  await shoot(page, "keys");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#keys").evaluate((it) => it.open)));
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/ui\/tasks\/[A-Z_]+\/./);
  await context.close();
});

describe("searching everything", () => {
  const chosen = (page) => page.locator("#hits [aria-selected=true]");

  test("the palette finds a task, a schedule and an action, by keys alone", async () => {
    await put("palette:one", "2027-01-01T00:00:00Z");
    const { context, page, seen } = await reader(browser);
    for (const [key, typed, name, leads] of [
      ["Control+k", "palette:", "palette:one", "**/ui/tasks/ARTICLE_PUBLISH/palette:one"],
      ["/", "nightly", "nightly-export", "**/ui/schedules/nightly-export"],
      ["Meta+k", "new sched", "New schedule", "**/ui/schedules/new"],
    ]) {
      await page.goto(`${stage.open}/ui/nodes`);
      await page.keyboard.press(key);
      await page.keyboard.type(typed);
      await chosen(page).filter({ hasText: name }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(leads);
    }
    assert.deepEqual(seen.problems, []);
    await context.close();
  });

  test("it is a combobox: arrows choose, Escape closes and gives the focus back", async () => {
    for (const lang of ["en", "zh-CN"]) {
      const { context, page } = await reader(browser, { lang });
      await page.goto(`${stage.open}/ui/schedules`);
      await page.locator("#find input").click();
      await page.locator("#hits [role=option]").nth(3).waitFor();
      const active = () => page.getAttribute("#palette input", "aria-activedescendant");
      assert.equal(await active(), "hit-0");
      await page.keyboard.press("ArrowDown");
      assert.equal(await active(), "hit-1");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      assert.equal(await chosen(page).getAttribute("id"), await page.locator("#hits [role=option]").last().getAttribute("id"));
      assert.deepEqual(await violations(page), []);
      await shoot(page, `palette.${lang}`);
      await page.keyboard.type("nothing-is-called-this");
      await page.locator("#palette [role=status]", { hasText: /./ }).waitFor();
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press("Escape");
      assert.ok(!(await page.locator("#palette").evaluate((it) => it.open)));
      await context.close();
    }
  });

  test("without scripts, the field leads to the page", async () => {
    const { context, page } = await reader(browser, { scripts: false });
    await page.goto(`${stage.open}/ui`);
    await page.locator("#find input").fill("nightly");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /^nightly-export/ }).click();
    await page.waitForURL("**/ui/schedules/nightly-export");
    await context.close();
  });
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
