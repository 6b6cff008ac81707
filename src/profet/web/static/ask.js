// Forms marked data-ask are sent without leaving the page: the parts of the answer marked data-swap take the places of
// those that are there. Without this file the same forms work as forms do.

const status = document.getElementById("status");
let asking = null;
let shown = location.pathname + location.search;

function say(text) {
  status.textContent = "";
  requestAnimationFrame(() => { status.textContent = text; });
}

function request(form, submitter, signal) {
  const data = new FormData(form, submitter);
  const headers = { Accept: "text/html" };
  if (form.method === "post") {
    return fetch(form.action, { method: "POST", body: data, headers, signal });
  }
  const filled = [...data].filter(([, value]) => value !== "");
  return fetch(`${form.action}?${new URLSearchParams(filled)}`, { headers, signal });
}

async function answer(response) {
  const text = await response.text();
  if ((response.headers.get("Content-Type") || "").startsWith("text/html")) {
    return new DOMParser().parseFromString(text, "text/html");
  }
  let detail = response.statusText;
  try { detail = JSON.parse(text).detail; } catch { /* not of ours */ }
  throw new Error(detail);
}

function swap(page) {
  for (const part of document.querySelectorAll("[data-swap]")) {
    const next = page.getElementById(part.id);
    if (next && !(part.contains(document.activeElement) && part.id !== "result")) {
      part.replaceWith(document.adoptNode(next));
    }
  }
  document.title = page.title;
  document.dispatchEvent(new Event("swapped"));
}

function remember(form, response, live) {
  const held = document.getElementById("result")?.dataset.address;
  const address = form.method === "post" && !response.redirected ? held : response.url;
  if (address === undefined) return;
  if (live) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  shown = location.pathname + location.search;
}

function failed(form, error) {
  const box = document.getElementById("result");
  const told = document.createElement("div");
  told.className = "refusal";
  told.setAttribute("role", "alert");
  told.textContent = error instanceof TypeError ? form.dataset.failed : error.message;
  box.replaceChildren(told);
}

async function ask(form, submitter, live) {
  asking?.abort();
  const mine = asking = new AbortController();
  form.setAttribute("aria-busy", "true");
  if (!live) say(form.dataset.busy);
  try {
    const response = await request(form, submitter, mine.signal);
    const page = await answer(response);
    swap(page);
    remember(form, response, live);
    const target = document.getElementById("refusal") || document.querySelector("#result [data-said]");
    if (target) {
      say(target.textContent.trim().replace(/\s+/g, " "));
      if (!live) target.focus();
    }
  } catch (error) {
    if (error.name !== "AbortError") failed(form, error);
  } finally {
    if (asking === mine) form.removeAttribute("aria-busy");
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-ask]") || event.submitter?.hasAttribute("data-whole")) return;
  event.preventDefault();
  ask(form, event.submitter, false);
});

let waiting = 0;
document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.matches("[data-live]")) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (form.checkValidity()) ask(form, undefined, true); }, 60);
});

window.addEventListener("popstate", () => {
  if (location.pathname + location.search !== shown) location.reload();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(location.href);
  say(button.dataset.copied);
  button.textContent = button.dataset.copied;
});

function unhide() {
  if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
}
document.addEventListener("swapped", unhide);
unhide();

document.addEventListener("input", (event) => {
  const place = document.getElementById(event.target.dataset?.shows);
  if (place) place.textContent = event.target.value;
});
