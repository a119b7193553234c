// A browser for the tests: Debian's Chromium, watched for everything a reader should never meet.
import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The settings of the stage. */
export const stage = JSON.parse(process.env.ALMANACK_STAGE ?? "null");
if (!stage) throw new Error("these tests are started by `cargo nextest run -p almanack-server real_browser`");

mkdirSync(stage.shots, { recursive: true });

/** Where pages may load from. */
const ORIGINS = [stage.open, stage.guarded, stage.empty];

/** Starts the browser. */
export function launch() {
  return chromium.launch({
    executablePath: stage.chromium,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A reader with habits of their own: language, theme, size of the window, with or without scripts, whether the zone is known already. */
export async function habit(browser, habits = {}) {
  const { lang = "en", theme = "light", width = 1280, scripts = true, zone = "Europe/Berlin", known = true } = habits;
  const context = await browser.newContext({
    locale: lang,
    colorScheme: theme,
    viewport: { width, height: 900 },
    javaScriptEnabled: scripts,
    timezoneId: zone,
    reducedMotion: "reduce",
  });
  // Machines that run tests are busy with other things.
  context.setDefaultTimeout(60_000);
  const zoned = (url) => ({ name: "almanack-zone", value: zone, url });
  if (known) await context.addCookies(ORIGINS.map(zoned));
  return context;
}

/** Opens an empty page that is watched. */
export async function open(context) {
  const page = await context.newPage();
  const seen = { problems: [], foreign: [], answers: [] };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") seen.problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => seen.problems.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => {
    // What the browser drops by itself, a stream or an icon when the reader goes on to the next page, is no failure.
    const reason = request.failure()?.errorText ?? "for no reason given";
    if (reason !== "net::ERR_ABORTED") seen.problems.push(`failed: ${request.url()} ${reason}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && !ORIGINS.includes(origin)) seen.foreign.push(request.url());
  });
  page.on("response", (response) => { if (!response.url().includes("/ui/live")) seen.answers.push(response); });
  return { page, seen };
}

/** A reader of their own, with a page. */
export async function reader(browser, habits = {}) {
  const context = await habit(browser, habits);
  return { context, ...(await open(context)) };
}

/** How much came over the wire, as it came: compressed. */
export async function transferred(seen) {
  const sizes = seen.answers.map(async (answer) => {
    const { responseBodySize, responseHeadersSize } = await answer.request().sizes();
    return responseBodySize + responseHeadersSize;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What makes a page hard to use for some, by the rules of WCAG 2.2 AA. */
export async function violations(page) {
  // Evaluated by the debugger, so the page's own policy stays as strict as it is.
  await page.evaluate(axe);
  return judged(page, { type: "tag", values: RULES });
}

/** Texts that are hard to read for their colours; asks what `violations` left in the page. */
export function lowContrasts(page) {
  return judged(page, { type: "rule", values: ["color-contrast", "link-in-text-block"] });
}

async function judged(page, runOnly) {
  const found = await page.evaluate((rules) => window.axe.run(document, { runOnly: rules, resultTypes: ["violations"] }), runOnly);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`);
}

/**
 * What a reader cannot get at, or would not look for: a page wider than its window, boxes that go on without a faded edge,
 * texts cut short without a title, columns as narrow as letters.
 */
export function cuts(page) {
  return page.evaluate(async () => {
    // What follows the scrolling is computed with the frame after a change of the window.
    const frame = () => new Promise((done) => { requestAnimationFrame(done); });
    await frame();
    await frame();
    const found = [];
    const note = (what, it) => found.push(`${what}: ${it.outerHTML.slice(0, 160)}`);
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) note(`the page is ${root.scrollWidth} wide`, root);
    for (const it of document.querySelectorAll("body *")) {
      if (it.closest("svg, .unseen, .skip, input, select, textarea") || !it.checkVisibility()) continue;
      const style = getComputedStyle(it);
      if (style.clipPath !== "none") continue;
      if (style.overflowX !== "visible" && it.scrollWidth > it.clientWidth + 1) {
        const says = style.textOverflow === "ellipsis" ? it.closest("[title]") !== null
          : ["--left", "--right"].some((edge) => parseFloat(style.getPropertyValue(edge)) > 0);
        if (!says) note(`${it.scrollWidth} of ${it.clientWidth} px`, it);
      }
      const letter = parseFloat(style.fontSize);
      const room = it.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const isThin = it.matches("td, th, dd, li, p") && room < 3 * letter && it.clientHeight > 8 * letter;
      if (isThin && it.innerText.trim().length > 6) note("a column of letters", it);
    }
    return found;
  });
}

/** Keeps a picture of a page. */
export function shoot(page, name) {
  return page.screenshot({ path: join(stage.shots, `${name}.png`), fullPage: true });
}

/** A page's name as a file. */
export function fileName(path) {
  return path.replace(/^\/ui\/?/, "").replace(/%[0-9A-F]{2}/g, "").replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-|-$/g, "") || "today";
}
