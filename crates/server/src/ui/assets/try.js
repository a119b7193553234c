// Sends the calls of the API reference from the page, to this node only.
"use strict";

const BODY_CHARS_MAX = 100000;

function address(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("input[data-in]")) {
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === "query" && field.value) query.set(field.name, field.value);
  }
  const text = query.toString();
  return new URL(text ? `${path}?${text}` : path, location.origin);
}

function request(form) {
  const headers = { "Accept-Language": document.documentElement.lang };
  for (const field of form.querySelectorAll('input[data-in="header"]')) {
    if (field.value) headers[field.name] = field.value;
  }
  const body = form.elements.body?.value;
  if (body) headers["Content-Type"] = form.dataset.type;
  return { method: form.dataset.method, headers, body: body || undefined, credentials: "same-origin", redirect: "manual", cache: "no-store" };
}

function readable(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function show(form, status, headers, body) {
  const answer = form.querySelector(".answer");
  answer.querySelector("[data-status]").textContent = status;
  answer.querySelector("[data-headers]").textContent = headers;
  answer.querySelector("[data-body]").textContent = readable(body).slice(0, BODY_CHARS_MAX);
  answer.hidden = false;
}

async function send(form) {
  const url = address(form);
  if (url.origin !== location.origin) return;
  try {
    const answer = await fetch(url, request(form));
    const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    show(form, `${answer.status} ${answer.statusText}`.trim(), headers, await answer.text());
  } catch (error) {
    show(form, form.querySelector(".answer").dataset.failed, "", String(error));
  }
}

for (const part of document.querySelectorAll("details.try")) part.hidden = false;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-call]")) return;
  event.preventDefault();
  if (!form.dataset.confirm || confirm(form.dataset.confirm)) send(form);
});
