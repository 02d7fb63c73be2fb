// The view of a Tenant: its objects in the order of their dependencies, each beside the live object on demand.

import { badge, card, conditions, diff, facts, h, link, sign, timeline, title as head, tree } from "../parts.js";
import { actionBar } from "../actions.js";
import { call } from "../session.js";

export function title(s) {
  return s.head.object.name;
}

export function layout(s) {
  return [
    head(s.head, "Tenant", [badge(`${s.head.ready} of ${s.head.desired} ready`, s.head.health), s.head.paused ? badge("Paused", "waiting") : null]),
    actionBar(s.actions),
    card("Row and template", facts([["uid", h("code", {}, s.head.uid)], ["Template", [link(s.head.template), ` generation ${s.head.templateGeneration}`]], ["Registry", link(s.head.registry)]])),
    card("Objects", levels(s.levels)),
    s.drift.length ? card("Drift put back", timeline(s.drift)) : null,
    s.kept.length ? card("Kept objects", timeline(s.kept)) : null,
    h("div", { class: "columns" }, card("Timeline", timeline(s.timeline)), card("Conditions", conditions(s.conditions))),
  ];
}

function levels(found) {
  if (!found.length) return h("p", { class: "muted" }, "The template has no objects for this row.");
  const many = found.length > 1;
  return h("div", { class: "levels" }, found.map((level, index) => h("div", { class: "level" },
    many ? h("h3", {}, index === 0 ? "First" : "then") : null, level.map(node))));
}

function node(each) {
  return h("div", { class: `node ${each.health}` },
    h("div", {}, sign(each.health), " ", h("span", { class: "id" }, each.id), each.policies.length ? h("span", {}, each.policies.map((policy) => [" ", badge(policy)])) : null),
    h("div", { class: "muted" }, each.object.kind, " ", link(each.object)),
    h("div", {}, each.text, each.changed ? h("span", { class: "muted" }, `, changed ${each.changed} ago`) : null),
    each.dependsOn.length ? h("div", { class: "from" }, `after ${each.dependsOn.join(", ")}`) : null,
    each.parts.length ? h("div", { class: "tree" }, tree(each.parts)) : null,
    each.isComparable ? compared(each) : h("div", { class: "from" }, "Secrets are never read."));
}

function compared(each) {
  const content = h("div", {});
  const load = async (event) => {
    if (!event.target.open) return;
    content.replaceChildren("Reading…");
    try {
      const found = await call("GET", `/api/compare?view=${encodeURIComponent(location.pathname)}&id=${encodeURIComponent(each.id)}`);
      content.replaceChildren(...[found.message ? h("p", {}, found.message) : null, found.diff.length ? diff(found.diff) : h("pre", { class: "text", tabindex: "0" }, found.rendered)].filter(Boolean));
    } catch (error) {
      content.replaceChildren(h("p", { class: "error" }, error.message));
    }
  };
  return h("details", { "data-key": `compare ${each.id}`, ontoggle: load }, h("summary", {}, "Rendered and live"), content);
}
