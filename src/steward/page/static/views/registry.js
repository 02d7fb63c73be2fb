// The view of a TenantRegistry: source, guard, templates, and a window of its Tenants with filters.

import { badge, card, command, conditions, facts, h, plural, rolloutBar, sentenceText, sign, timeline, title as head, unread, waitingLine, whole } from "../parts.js";
import { actionBar, actionsAbout } from "../actions.js";
import { keptObjects } from "../kept.js";
import { navigate } from "../app.js";

export function title(s) {
  return s.head.object.name;
}

export function layout(s) {
  return [
    head(s.head, "TenantRegistry", [s.head.paused ? badge("Paused", "waiting") : null], actionBar(s.actions)),
    s.guard.held ? card("Held deletion", h("ul", { class: "lines" }, waitingLine(s.guard.held, "failed"))) : null,
    h("div", { class: "columns" }, card("Source", source(s.source)), card("Deletion guard", guard(s.guard))),
    s.rejected.length ? card("Rejected rows", h("ul", { class: "lines" }, s.rejected.map((row) => waitingLine(row, "failed")))) : null,
    card("Templates", templates(s.templates)),
    card("Tenants", tenants(s.tenants, s.reading)),
    keptObjects(s.head.object.namespace, []),
    h("div", { class: "columns" }, card("Timeline", timeline(s.timeline)), card("Conditions", conditions(s.conditions))),
  ];
}

function source(data) {
  return facts([
    ["Table", h("span", { class: "mono" }, `${data.type} · ${data.place}`)],
    // A read that finds nothing new writes no status, so the time is that of the last read that did.
    ["Read", data.lastReadAge ? [sign(data.reachable ? "ready" : "failed"), ` every ${data.interval}`] : "not yet"],
    ["Last change", data.lastReadAge ? `${whole(`${data.lastReadAge} ago`)}${data.readTook ? `, read in ${whole(data.readTook)}` : ""}` : ""],
    ["Rows", rows(data)],
    ["All rows", command(data.rowsCommand)],
    ["Tenants", `${data.ready.toLocaleString("en")} of ${data.desired.toLocaleString("en")} ready, ${data.failed.toLocaleString("en")} failed`]]);
}

function rows(data) {
  const counted = [[data.activeRows, "active", "ready"], [data.inactiveRows, "inactive", "none"], [data.rejectedRows, "rejected", data.rejectedRows ? "failed" : "none"]];
  return h("span", { class: "counts" }, counted.filter(([count]) => count !== null).map(([count, word, health]) =>
    h("span", { class: `${health}-text` }, h("strong", {}, count.toLocaleString("en")), ` ${word}`)));
}

function guard(data) {
  const limits = `${data.maxPercent} %` + (data.maxCount === null ? "" : `, ${data.maxCount} at most`);
  return facts([["Deletes at once", `up to ${limits}`], ["Empty table", data.allowEmpty ? "is accepted" : "is held"],
    ["Grace period", data.gracePeriod], ["Now", data.held ? [sign("failed"), " a deletion is held"] : [sign("ready"), " nothing is held"]]]);
}

function templates(lines) {
  if (!lines.length) return h("p", { class: "muted" }, "No TenantTemplate uses this registry.");
  return h("ul", { class: "lines" }, lines.map((line) => h("li", {}, sign(line.health), h("div", { class: "body" },
    h("div", {}, sentenceText(line), line.paused ? [" ", badge("Paused", "waiting")] : null),
    line.rollout.total ? rolloutBar(line.rollout) : null,
    line.held ? h("ul", {}, waitingLine(line.held, "failed")) : null), actionsAbout(line.object.name))));
}

function tenants(data, reading) {
  const total = data.counts.failed + data.counts.waiting + data.counts.ready;
  if (reading) return [filters(data), unread(reading, plural(total, "Tenant"))];
  return [filters(data), data.rows.length ? matrix(data) : h("p", { class: "muted" }, total ? "No Tenant matches." : "No Tenants yet."), pager(data)];
}

function query(changes) {
  const parameters = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries({ offset: "", ...changes })) {
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  }
  const text = parameters.toString();
  return location.pathname + (text ? `?${text}` : "");
}

let typing;

function filters(data) {
  const now = new URLSearchParams(location.search);
  const names = [...new Set([...data.templates, now.get("template") ?? ""])].filter(Boolean);
  const uid = h("input", { type: "search", value: now.get("q") ?? "", "data-key": "filter uid", "aria-label": "Filter by uid", placeholder: "uid",
    oninput: (event) => { clearTimeout(typing); typing = setTimeout(() => navigate(query({ q: event.target.value }), { replace: true, quiet: true }), 250); } });
  const state = select("filter state", now.get("state") ?? "", [["", "all"], ["failed", `failed (${data.counts.failed})`], ["waiting", `waiting (${data.counts.waiting})`], ["ready", `ready (${data.counts.ready})`]], (value) => navigate(query({ state: value }), { quiet: true }));
  const template = select("filter template", now.get("template") ?? "", [["", "all"], ...names.map((name) => [name, name])], (value) => navigate(query({ template: value }), { quiet: true }));
  return h("div", { class: "filters" }, h("label", {}, "uid", uid), h("label", {}, "State", state), h("label", {}, "Template", template));
}

function select(key, value, options, change) {
  const element = h("select", { "data-key": key, onchange: (event) => change(event.target.value) }, options.map(([name, text]) => h("option", { value: name }, text)));
  element.value = value;
  return element;
}

function matrix(data) {
  return h("div", { class: "wide" }, h("table", { class: "matrix", "aria-label": "Tenants by row and template" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "uid"), data.templates.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, data.rows.map((row) => h("tr", {}, h("th", { scope: "row", class: "mono" }, row.uid), row.cells.map(cell))))));
}

function cell(tenant) {
  if (!tenant) return h("td", { class: "muted" }, "–");
  return h("td", {}, h("a", { href: tenant.href, title: tenant.text || tenant.name, "data-key": `tenant ${tenant.name}`, "aria-label": `${tenant.name}: ${tenant.health}` },
    sign(tenant.health), h("span", { class: "muted" }, tenant.desired ? `${tenant.ready}/${tenant.desired}` : "no objects"), tenant.health !== "ready" && tenant.text ? h("span", { class: `${tenant.health}-text` }, tenant.text.slice(0, 90)) : null));
}

function pager(data) {
  if (data.matching <= data.size && !data.offset) return h("p", { class: "muted" }, plural(data.matching, "row"));
  const last = Math.min(data.matching, data.offset + data.size);
  const step = (offset, text, disabled) => h("button", { type: "button", disabled, "data-key": `page ${text}`, onclick: () => navigate(query({ offset: offset ? String(offset) : "" }), { quiet: true }) }, text);
  return h("div", { class: "pager" }, step(Math.max(0, data.offset - data.size), "Previous", data.offset === 0),
    h("span", {}, `${(data.offset + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${data.matching.toLocaleString("en")}`),
    step(data.offset + data.size, "Next", last >= data.matching));
}
