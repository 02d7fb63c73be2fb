// The frame of the page: addresses, the stream of the current view, theme and login.

import { h, plural, replaceContent } from "./dom.js";
import { readSession, call, session } from "./session.js";
import { startSearch } from "./search.js";
import { login, closed } from "./views/login.js";
import * as now from "./views/now.js";
import * as cluster from "./views/cluster.js";
import * as registry from "./views/registry.js";
import * as tenant from "./views/tenant.js";
import { labView } from "./views/lab.js";

const VIEWS = { now, cluster, registry, tenant };
const main = document.getElementById("main");
const live = document.getElementById("live");
let stream = null;
let sections = {};
let shown = "";
let wantsFocus = false;

function viewOf(path) {
  const [name, ...key] = path.split("/").filter(Boolean);
  return key.length === (name && name !== "now" ? 2 : 0) ? VIEWS[name ?? "now"] ?? null : null;
}

export function navigate(address, { replace = false, quiet = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  wantsFocus = !quiet;
  show({ keeps: quiet });
}

function show({ keeps = false } = {}) {
  if (!keeps) {
    sections = {};
    shown = "";
    replaceContent(main, h("p", { class: "empty" }, "Reading…"));
    scrollTo(0, 0);
  }
  for (const each of document.querySelectorAll("#nav a")) {
    const isCurrent = each.getAttribute("href") === (location.pathname === "/" ? "/now" : location.pathname);
    if (isCurrent) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (location.pathname === "/lab") showLab();
  else if (viewOf(location.pathname)) openStream();
  else showNothing();
}

function showLab() {
  closeStream();
  replaceContent(main, ...labView());
  document.title = "Lab · Steward";
  if (wantsFocus) main.querySelector("h1")?.focus({ preventScroll: true });
  wantsFocus = false;
}

function showNothing() {
  closeStream();
  replaceContent(main, notFound(`There is no view at ${location.pathname}.`));
  document.title = "Not found · Steward";
  main.querySelector("h1").focus({ preventScroll: true });
}

function notFound(message) {
  return h("div", { class: "empty" }, h("h1", { tabindex: "-1" }, "Not found"), h("p", {}, message), h("p", {}, h("a", { href: "/now" }, "Now"), " shows all that there is."));
}

function closeStream() {
  stream?.close();
  stream = null;
  setLive("", "");
}

function openStream() {
  stream?.close();
  stream = null;
  const source = new EventSource(`/api/stream?view=${encodeURIComponent(location.pathname + location.search)}`);
  stream = source;
  source.addEventListener("sections", (event) => {
    if (source !== stream) return;
    draw(JSON.parse(event.data));
    showLive();
  });
  source.addEventListener("progress", (event) => {
    if (source === stream && !shown) replaceContent(main, h("p", { class: "empty", role: "status" }, `Reading… ${plural(JSON.parse(event.data).objects, "object")} so far`));
  });
  source.addEventListener("open", () => { if (source === stream && shown) showLive(); });
  source.addEventListener("ended", () => { if (source === stream) start(); });
  source.addEventListener("error", () => {
    if (source !== stream) return;
    setLive("off", "Reconnecting…");
    if (source.readyState === EventSource.CLOSED) reconnect(source);
  });
}

// The server has answered with an error: the session may have ended.
function reconnect(source) {
  readSession().then(
    () => setTimeout(() => { if (source === stream) openStream(); }, 2000),
    (error) => (error.status === 401 ? showLogin(error.message) : setTimeout(() => { if (source === stream) reconnect(source); }, 3000)));
}

function draw(changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete sections[name];
    else sections[name] = value;
  }
  shown = location.pathname + location.search;
  const view = viewOf(location.pathname);
  if (sections.missing) replaceContent(main, notFound(sections.missing));
  else replaceContent(main, ...view.layout(sections).filter(Boolean));
  document.title = `${sections.missing ? "Not found" : view.title(sections)} · Steward`;
  if (wantsFocus) main.querySelector("h1")?.focus({ preventScroll: true });
  wantsFocus = false;
}

// Until the first lists have been read, a view shows what the statuses of clusters, registries and templates say.
function showLive() {
  if (sections.reading) setLive("off", "Reading…");
  else setLive("on", "Live");
}

function setLive(state, text) {
  live.className = `live ${state}`;
  if (live.textContent !== text) live.textContent = text;
}

function setFrame(isOpen) {
  for (const name of ["nav", "search"]) document.getElementById(name).hidden = !isOpen;
  document.getElementById("logout").hidden = !(isOpen && session.data?.canLogOut);
  document.getElementById("foot").textContent = isOpen ? footer() : "";
}

function footer() {
  const { user, cluster: name, namespaces } = session.data;
  const where = namespaces.includes("*") ? "all namespaces" : namespaces.join(", ") || "no namespace";
  return [name, user, where].filter(Boolean).join(" · ");
}

function showLogin(message) {
  closeStream();
  session.data = null;
  document.querySelectorAll("dialog").forEach((each) => each.close());
  setFrame(false);
  const needsLogin = !message.includes("steward page");
  replaceContent(main, needsLogin ? login(message === "log in first" ? "" : message, start) : closed(message));
  document.title = "Log in · Steward";
  main.querySelector("textarea, h1")?.focus();
}

async function start() {
  try {
    await readSession();
  } catch (error) {
    return error.status === 401 ? showLogin(error.message) : waitForServer(error.message);
  }
  setFrame(true);
  return show();
}

function waitForServer(message) {
  replaceContent(main, h("p", { class: "empty", role: "status" }, message, " Trying again…"));
  setTimeout(start, 2000);
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => { document.documentElement.dataset.theme = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", apply);
  document.getElementById("theme").addEventListener("click", () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("a[href^='/']");
  if (!target || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  navigate(target.getAttribute("href"));
});
addEventListener("popstate", () => { wantsFocus = true; show(); });
// A hidden tab needs no stream: browsers allow six connections to a server, over all tabs.
document.addEventListener("visibilitychange", () => {
  if (!session.data || !viewOf(location.pathname)) return;
  if (document.hidden) { stream?.close(); stream = null; } else if (!stream) openStream();
});
document.getElementById("logout").addEventListener("click", async () => {
  await call("POST", "/api/logout", {}).catch(() => {});
  showLogin("log in first");
});
sessionStorage.removeItem("attempts");
session.onEnded = showLogin;
startTheme();
startSearch(navigate);
start();
