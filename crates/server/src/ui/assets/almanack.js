// Keeps a page of Almanack's dashboard live, and gives it keys. Every page works without it.
"use strict";

const root = document.documentElement;
const language = root.lang.startsWith("zh") ? "zh" : "en";

/* The node's clock, which may run faster than ours. */
const clock = {
  shown: Number(root.dataset.now),
  at: performance.now(),
  speed: Number(root.dataset.speed) || 1,
  now() { return this.shown + (performance.now() - this.at) * this.speed; },
  set(shown) { this.shown = shown; this.at = performance.now(); },
};

/* How far away an instant is, in the words the server uses. */
const units = {
  en: { ms: " ms", s: " s", min: " min", h: " h", days: " days", now: "now", before: (t) => `${t} ago`, after: (t) => `in ${t}`, fresh: (n) => (n ? `${n} new` : "List changed") },
  zh: { ms: "毫秒", s: "秒", min: "分钟", h: "小时", days: "天", now: "现在", before: (t) => `${t}前`, after: (t) => `${t}后`, fresh: (n) => (n ? `${n} 条新内容` : "列表有变化") },
}[language];

function distance(ms) {
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 1) return units.now;
  const [count, unit] = seconds < 60 ? [seconds, units.s]
    : seconds < 3600 ? [seconds / 60, units.min]
    : seconds < 172800 ? [seconds / 3600, units.h]
    : [seconds / 86400, units.days];
  const whole = count >= 10 || unit === units.s || Math.abs(count - Math.round(count)) < 0.05;
  const text = `${whole ? count.toFixed(0) : count.toFixed(1)}${unit}`;
  return ms < 0 ? units.before(text) : units.after(text);
}

function showDistances(within = document) {
  const now = clock.now();
  for (const span of within.querySelectorAll(".distance[data-at]")) {
    const text = distance(Number(span.dataset.at) - now);
    if (span.textContent !== text) span.textContent = text;
  }
}

/* Swaps the live parts that differ. A part with the focus is left alone until it loses it. */
function isBusy(part) {
  const active = document.activeElement;
  const field = active && part.contains(active) && active.matches("input:not([type=checkbox]), select, textarea");
  return field || part.querySelector("input[type=checkbox]:checked") !== null;
}

function openDetails(part) {
  return [...part.querySelectorAll("details")].map((details, place) => (details.open ? place : -1)).filter((place) => place >= 0);
}

/* A part as the server sent it: without what this script put in and what people opened. */
function bare(part) {
  const copy = part.cloneNode(true);
  for (const span of copy.querySelectorAll(".distance[data-at]")) span.textContent = "";
  for (const button of copy.querySelectorAll("button[data-copy]")) button.hidden = true;
  for (const details of copy.querySelectorAll("details")) details.removeAttribute("open");
  for (const row of copy.querySelectorAll("[data-row]")) row.removeAttribute("class");
  return copy.innerHTML;
}

function swap(text) {
  const next = new DOMParser().parseFromString(text, "text/html");
  clock.set(Number(next.documentElement.dataset.now));
  for (const part of document.querySelectorAll("[data-live][id]")) {
    const fresh = next.getElementById(part.id);
    if (!fresh || isBusy(part)) continue;
    if (bare(fresh) === bare(part)) release(part);
    else if (moves(part, fresh) && isRead(part)) hold(part, fresh);
    else replace(part, fresh);
  }
  showDistances();
}

/* Rows do not move under the pointer, nor while one has the focus or the list is scrolled into: rows that stay are brought
   up to date where they are, the others wait for a button, or until nobody points at them any more. */
const held = new Map();

function rowIds(part) { return [...part.querySelectorAll("[data-row][id]")].map((row) => row.id); }

function moves(part, fresh) {
  const shown = rowIds(part);
  return shown.length > 0 && shown.join() !== rowIds(fresh).join();
}

function isRead(part) {
  const first = part.querySelector("[data-row]");
  return part.matches(":hover") || part.contains(document.activeElement) || first.getBoundingClientRect().top < 0;
}

function hold(part, fresh) {
  const shown = new Set(rowIds(part));
  let count = 0;
  for (const row of fresh.querySelectorAll("[data-row][id]")) {
    if (!shown.has(row.id)) count += 1;
    else update(document.getElementById(row.id), row);
  }
  const pill = held.get(part.id)?.pill ?? document.createElement("button");
  pill.type = "button";
  pill.className = "pill";
  pill.textContent = units.fresh(count);
  if (!held.has(part.id)) {
    pill.addEventListener("click", () => apply(part));
    part.before(pill);
    part.addEventListener("pointerleave", letGo);
    part.addEventListener("focusout", letGo);
  }
  held.set(part.id, { pill, fresh });
}

/* What has the focus keeps it, so its row stays as it is. */
function update(row, fresh) {
  if (row.contains(document.activeElement) || bare(row) === bare(fresh)) return;
  row.replaceChildren(...fresh.cloneNode(true).childNodes);
  offerCopying(row);
}

function letGo(event) {
  const part = event.currentTarget;
  setTimeout(() => { if (held.has(part.id) && !isRead(part)) apply(part); });
}

function apply(part) {
  replace(part, held.get(part.id).fresh);
  showDistances();
}

function release(part) {
  held.get(part.id)?.pill.remove();
  held.delete(part.id);
  part.removeEventListener("pointerleave", letGo);
  part.removeEventListener("focusout", letGo);
}

/* What has the focus, so that it can be found again: by its id, by where it leads, by its place among its like. */
function focusedIn(part) {
  const focused = document.activeElement;
  if (!focused || !part.contains(focused)) return () => {};
  const href = focused.getAttribute("href");
  const alike = focused.id ? `#${CSS.escape(focused.id)}`
    : href ? `${focused.localName}[href="${CSS.escape(href)}"]`
    : focused.localName;
  const place = [...part.querySelectorAll(alike)].indexOf(focused);
  return () => part.querySelectorAll(alike)[place]?.focus({ preventScroll: true });
}

function replace(part, fresh) {
  release(part);
  const open = openDetails(part);
  const focusAgain = focusedIn(part);
  const scrolled = [...part.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  const before = [...part.querySelectorAll("[data-row]")];
  const seen = new Set(before.map((row) => row.id));
  const here = before.findIndex((row) => row.classList.contains("here"));
  const hereId = before[here]?.id;
  part.replaceChildren(...fresh.childNodes);
  const details = part.querySelectorAll("details");
  for (const place of open) if (details[place]) details[place].open = true;
  part.querySelectorAll(".scroll").forEach((box, place) => { box.scrollLeft = scrolled[place] ?? 0; });
  part.querySelectorAll("[data-row]").forEach((row, place) => {
    if (row.id && !seen.has(row.id)) row.classList.add("fresh");
    if (hereId ? row.id === hereId : place === here) row.classList.add("here");
  });
  offerCopying(part);
  focusAgain();
}

/* The stream. It ends while the page is hidden or paused: paused means paused. */
const button = document.getElementById("live");
const live = { stream: null, paused: sessionStorage.getItem("almanack-paused") === "1", away: false, leaving: 0, lost: false, heard: Date.now(), touched: false, wait: 1_000 };
/* Waits before the stream is asked for again: from, up to. */
const WAIT_MS = 1_000;
const WAIT_MAX_MS = 30_000;
/* A stream that breaks off comes back within moments; a page without one for longer is old. */
const STALE_AFTER_MS = 5_000;
/* A user may watch the page beside another window; after this long we assume they do not. */
const AWAY_AFTER_MS = 30_000;

function leave() {
  live.away = true;
  disconnect();
  show();
}

function comeBack() {
  clearTimeout(live.leaving);
  live.away = false;
  connect();
  show();
}

function connect() {
  const parts = document.querySelector("[data-live][id]");
  // What answers a form cannot be asked for again.
  const still = "still" in root.dataset;
  if (live.stream || live.paused || live.away || document.hidden || still || !parts) return;
  const page = encodeURIComponent(location.pathname + location.search);
  live.stream = new EventSource(`/ui/live?page=${page}`);
  live.stream.addEventListener("page", (event) => { hear(); if (!live.paused) swap(event.data); });
  live.stream.addEventListener("same", (event) => { hear(); clock.set(Number(event.data)); });
  live.stream.addEventListener("gone", gone);
  live.stream.onerror = lose;
}

function hear() {
  live.lost = false;
  live.heard = Date.now();
  live.wait = WAIT_MS;
  show();
}

/* A browser comes back by itself from a connection that broke, but never from an answer that is no stream. */
function lose() {
  live.lost = true;
  show();
  if (live.stream?.readyState !== EventSource.CLOSED) return;
  disconnect();
  setTimeout(connect, live.wait);
  live.wait = Math.min(live.wait * 2, WAIT_MAX_MS);
}

/* The page is gone, or not for us: loading it shows why. Not while a form is filled in, and only once. */
function gone() {
  disconnect();
  live.lost = true;
  show();
  const last = Number(sessionStorage.getItem("almanack-reloaded"));
  if (live.touched || Date.now() - last < WAIT_MAX_MS) return;
  sessionStorage.setItem("almanack-reloaded", String(Date.now()));
  location.reload();
}

function disconnect() {
  live.stream?.close();
  live.stream = null;
}

function show() {
  if (!button) return;
  button.hidden = "still" in root.dataset || !document.querySelector("[data-live][id]");
  const rests = live.paused || live.away;
  button.setAttribute("aria-pressed", String(rests));
  button.classList.toggle("lost", live.lost && !rests);
  const text = rests ? button.dataset.off : live.lost ? button.dataset.lost : button.dataset.on;
  if (button.textContent !== text) button.textContent = text;
  showAge();
}

/* A page that is no longer kept live says so, and since when; the sentence is announced, its age is not. */
const stale = document.getElementById("stale");

function showAge() {
  if (!stale) return;
  const rests = live.paused || live.away;
  const old = live.lost && !rests && Date.now() - live.heard >= STALE_AFTER_MS;
  stale.hidden = !old;
  stale.querySelector("[aria-live]").textContent = old ? stale.dataset.text : "";
  stale.querySelector(".age").textContent = old ? distance(live.heard - Date.now()) : "";
}

function pauseOrGoOn() {
  live.paused = !live.paused;
  sessionStorage.setItem("almanack-paused", live.paused ? "1" : "0");
  if (live.paused) disconnect(); else connect();
  show();
}

/* Forms that are tried while they are typed. */
function tryForms() {
  for (const form of document.querySelectorAll("form[data-try]")) {
    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => tryOut(form), 250);
    });
  }
}

async function tryOut(form) {
  const query = new URLSearchParams(new FormData(form)).toString();
  const address = `${form.getAttribute("action") || location.pathname}?${query}`;
  const answer = await fetch(address, { headers: { "x-almanack-live": "1" } });
  const text = await answer.text();
  if (query !== new URLSearchParams(new FormData(form)).toString()) return;
  history.replaceState(null, "", address);
  // The stream sends the page of the old address; it must follow, or it would swap the answer away.
  disconnect();
  connect();
  const next = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-live][id]")) {
    const fresh = next.getElementById(part.id);
    if (fresh) replace(part, fresh);
  }
  showDistances();
}

/* Copying, also where the page came over plain HTTP and the clipboard's own interface is closed. */
async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

function offerCopying(within = document) {
  for (const button of within.querySelectorAll("button[data-copy]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  if (!button) return;
  await copy(button.dataset.copy);
  const said = button.textContent;
  button.textContent = "✓";
  setTimeout(() => { button.textContent = said; }, 1200);
});

/* A file is read into the field that its text is sent by; without the script, people paste it there. */
function offerFiles() {
  for (const place of document.querySelectorAll("[data-file]")) place.hidden = false;
}

document.addEventListener("change", async (event) => {
  const input = event.target.closest?.("input[type=file][data-into]");
  const field = input?.form.elements[input.dataset.into];
  if (field && input.files[0]) field.value = await input.files[0].text();
});

/* A form is being filled in and would be lost. */
document.addEventListener("input", (event) => { live.touched ||= event.target.closest?.("form[method=post]") !== null; });

/* Keys. */
let before = { key: "", at: 0 };
/* A second key after `g` belongs to it for so long. */
const TOGETHER_MS = 1_500;

function rows() { return [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility()); }

function step(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.classList.contains("here"));
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all.forEach((row) => row.classList.remove("here"));
  all[next].classList.add("here");
  all[next].scrollIntoView({ block: "nearest" });
  all[next].querySelector("a[data-open], a")?.focus();
}

function showKeys() {
  const dialog = document.getElementById("keys");
  if (dialog && !dialog.open) dialog.showModal();
}

/* Arrows scroll the page until a row is chosen. */
const chosen = () => document.querySelector("[data-row].here");

const keys = {
  j: () => step(1),
  k: () => step(-1),
  o: () => chosen()?.querySelector("a[data-open], a")?.click(),
  x: () => chosen()?.querySelector("input[type=checkbox]")?.click(),
  f: () => document.querySelector("main [data-search]")?.focus(),
  "/": openPalette,
  "?": showKeys,
  p: pauseOrGoOn,
};
const arrows = { ArrowDown: keys.j, ArrowUp: keys.k };

/* The palette: the page of the search as a list. The field keeps the focus and names the chosen hit (a combobox). */
const palette = document.getElementById("palette");
const sought = palette?.querySelector("input");
const hits = document.getElementById("hits");

function openPalette() {
  if (!palette || palette.open) return;
  palette.showModal();
  sought.value = "";
  seek();
}

async function seek() {
  const words = sought.value;
  const answer = await fetch(`/ui/search?q=${encodeURIComponent(words)}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = page.getElementById("found");
  // Signed out meanwhile, or the node is older: the page says it.
  if (!found) location.assign(answer.url);
  else if (words === sought.value) offer(found);
}

function offer(found) {
  hits.replaceChildren(...[...found.querySelectorAll("section")].map(group));
  const none = found.querySelector(".empty, .wrong");
  palette.querySelector("[role=status]").textContent = none?.textContent ?? "";
  const options = [...hits.querySelectorAll("[role=option]")];
  options.forEach((option, place) => { option.id = `hit-${place}`; });
  hits.hidden = options.length === 0;
  sought.setAttribute("aria-expanded", String(options.length > 0));
  mark(options[0]);
}

function group(section) {
  const box = document.createElement("div");
  box.role = "group";
  box.ariaLabel = section.querySelector("h2").textContent;
  const head = document.createElement("div");
  head.role = "presentation";
  head.textContent = box.ariaLabel;
  box.append(head);
  for (const link of section.querySelectorAll("li a")) {
    link.role = "option";
    link.tabIndex = -1;
    box.append(link);
  }
  return box;
}

function mark(option) {
  for (const other of hits.querySelectorAll("[aria-selected=true]")) other.ariaSelected = "false";
  if (option) option.ariaSelected = "true";
  option?.scrollIntoView({ block: "nearest" });
  sought.setAttribute("aria-activedescendant", option?.id ?? "");
}

palette?.addEventListener("keydown", (event) => {
  const options = [...hits.querySelectorAll("[role=option]")];
  const at = options.findIndex((option) => option.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.isComposing || options.length === 0) return;
  if (step) mark(options.at((at + step) % options.length));
  else if (event.key === "Enter") options[at]?.click();
  else return;
  event.preventDefault();
});
palette?.addEventListener("click", (event) => {
  // The place beside the dialog's content is the dialog itself; a hit on this very page leads within it.
  if (event.target === palette || event.target.closest("a")) palette.close();
});
let seeking = 0;
sought?.addEventListener("input", () => {
  clearTimeout(seeking);
  seeking = setTimeout(seek, 120);
});
document.querySelector("#find input")?.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  openPalette();
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.isComposing || root.dataset.keys === "off") return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key !== "k" || event.shiftKey || !palette) return;
    event.preventDefault();
    openPalette();
    return;
  }
  // A row that is ticked keeps its box in the focus.
  if (event.target.closest?.("input:not([type=checkbox]), select, textarea, dialog")) return;
  const together = before.key === "g" && event.timeStamp - before.at < TOGETHER_MS;
  const leads = together ? document.querySelector(`.top nav a[data-key="${CSS.escape(event.key)}"]`) : null;
  before = { key: event.key, at: event.timeStamp };
  const act = leads ? () => leads.click() : keys[event.key] ?? (chosen() && arrows[event.key]);
  if (!act) return;
  event.preventDefault();
  act();
});

/* A browser's zone is known to the script alone. The page is asked for again in it, once. */
function offerZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || document.cookie.includes("almanack-zone=")) return;
  document.cookie = `almanack-zone=${encodeURIComponent(zone).replaceAll("%2F", "/")}; path=/; max-age=31536000; samesite=lax`;
  const kept = document.cookie.includes("almanack-zone=");
  if (zone !== "UTC" && kept && !("still" in root.dataset)) location.reload();
}

/* Where a narrow page scrolls sideways, what is looked for first is in view: the page we are on, and now. */
function showPlace() {
  const bring = (box, it) => {
    const [outer, inner] = [box.getBoundingClientRect(), it.getBoundingClientRect()];
    box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  };
  const tab = document.querySelector(".top nav [aria-current]");
  if (tab) bring(tab.parentElement, tab);
  for (const box of document.querySelectorAll(".picture .scroll")) {
    const now = box.querySelector("path.now");
    if (now) bring(box, now);
  }
}

document.getElementById("show-keys")?.removeAttribute("hidden");
document.getElementById("show-keys")?.addEventListener("click", showKeys);
button?.addEventListener("click", pauseOrGoOn);
document.addEventListener("visibilitychange", () => (document.hidden ? leave() : comeBack()));
window.addEventListener("blur", () => { live.leaving = setTimeout(leave, AWAY_AFTER_MS); });
window.addEventListener("focus", comeBack);
window.addEventListener("pagehide", disconnect);
offerZone();
offerCopying();
offerFiles();
tryForms();
showPlace();
showDistances();
setInterval(() => { showDistances(); showAge(); }, 1000);
show();
connect();
