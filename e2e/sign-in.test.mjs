// Who may come in, and what they may do.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, lowContrasts, reader, shoot, stage, violations } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

async function signIn(page, { name, password }) {
  await page.goto(`${stage.guarded}/ui/tasks`);
  await page.locator("input[name=name]").fill(name);
  await page.locator("input[name=password]").fill(password);
  await page.locator("form:has(input[name=password]) button[type=submit]").click();
}

const cookie = async (context) => (await context.cookies()).find(({ name }) => name === "__Host-almanack");

describe("signing in", () => {
  for (const lang of ["en", "zh-CN"]) {
    test(`the page for it is for everybody, in ${lang}`, async () => {
      const { context, page, seen } = await reader(browser, { lang, width: 320 });
      await page.goto(`${stage.guarded}/ui`);
      assert.ok(page.url().includes("/ui/sign-in"), page.url());
      assert.equal(await page.getAttribute("html", "lang"), lang);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
      assert.deepEqual(await violations(page), []);
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await lowContrasts(page), []);
      await shoot(page, `sign-in.${lang}.dark`);
      assert.deepEqual(seen.problems, []);
      await context.close();
    });
  }

  test("a wrong password is refused and nothing is given", async () => {
    const { context, page } = await reader(browser);
    await signIn(page, { name: stage.admin.name, password: "not the password" });
    await page.getByRole("alert").waitFor();
    assert.equal(await cookie(context), undefined);
    assert.equal(await page.locator("input[name=password]").inputValue(), "");
    await shoot(page, "sign-in.refused");
    assert.deepEqual(await violations(page), []);
    await context.close();
  });

  test("a session tries a call of the API from the reference", async () => {
    const { context, page, seen } = await reader(browser);
    await signIn(page, stage.reader);
    await page.waitForURL("**/ui/tasks");
    await page.goto(`${stage.guarded}/ui/api/kinds`);
    const list = page.locator("#list_kinds .try");
    await list.locator("summary").click();
    await list.getByRole("button", { name: "Send" }).click();
    await list.locator("[data-status]", { hasText: "200" }).waitFor();
    assert.deepEqual(seen.problems, []);
    await context.close();
  });

  test("the right one leads to the page that was requested, and out again", async () => {
    const { context, page, seen } = await reader(browser);
    await signIn(page, stage.admin);
    await page.waitForURL("**/ui/tasks");
    const given = await cookie(context);
    assert.ok(given.secure && given.httpOnly && given.sameSite === "Lax" && given.path === "/", JSON.stringify(given));
    await page.goto(`${stage.guarded}/ui/settings`);
    await page.getByText("reports").first().waitFor();
    assert.deepEqual(await violations(page), [], "tokens and users are shown to who may manage them");
    await shoot(page, "settings-admin");
    await page.locator("form[action='/ui/sign-out'] button").click();
    await page.waitForURL("**/ui/sign-in**");
    await page.goto(`${stage.guarded}/ui/tasks`);
    assert.ok(page.url().includes("/ui/sign-in"), "the session is over");
    assert.deepEqual(seen.problems, []);
    await context.close();
  });

  test("a token opens it, too", async () => {
    const { context, page } = await reader(browser);
    await page.goto(`${stage.guarded}/ui/nodes`);
    await page.locator("input[name=token]").fill(stage.token);
    await page.locator("form:has(input[name=token]) button[type=submit]").click();
    await page.waitForURL("**/ui/nodes");
    await context.close();
  });
});

describe("forged requests", () => {
  test("a form without the session's key changes nothing", async () => {
    const { context, page } = await reader(browser);
    await signIn(page, stage.admin);
    await page.waitForURL("**/ui/tasks");
    const status = await page.evaluate(async () => {
      const body = new URLSearchParams({ theme: "dark" });
      return (await fetch("/ui/preferences", { method: "POST", body, redirect: "manual" })).status;
    });
    assert.equal(status, 403);
    await context.close();
  });

  test("a foreign page cannot send one, not even with the key", async () => {
    const { context, page } = await reader(browser);
    await signIn(page, stage.admin);
    await page.waitForURL("**/ui/tasks");
    const key = await page.locator("input[name=form_key]").first().inputValue();
    const body = `<form method="post" action="${stage.guarded}/ui/preferences"><input name="form_key" value="${key}"><input name="theme" value="dark"><button>go</button></form>`;
    await context.route("http://elsewhere.example/", (route) => route.fulfill({ contentType: "text/html", body }));
    const elsewhere = await context.newPage();
    await elsewhere.goto("http://elsewhere.example/");
    const [answer] = await Promise.all([elsewhere.waitForNavigation(), elsewhere.locator("button").click()]);
    assert.ok([401, 403].includes(answer.status()), String(answer.status()));
    await context.close();
  });
});

test("who may only read sees no acts and can do none", async () => {
  const { context, page } = await reader(browser);
  await signIn(page, stage.reader);
  await page.waitForURL("**/ui/tasks");
  assert.equal(await page.locator("main form[method=post]").count(), 0, "no form that changes anything");
  const key = await page.locator("input[name=form_key]").first().inputValue();
  const status = await page.evaluate(async (form_key) => {
    const body = new URLSearchParams({ form_key, subject: "x", kind: "ARTICLE_PUBLISH" });
    return (await fetch("/ui/tasks/new", { method: "POST", body, redirect: "manual" })).status;
  }, key);
  assert.equal(status, 403);
  await shoot(page, "reader");
  await context.close();
});
