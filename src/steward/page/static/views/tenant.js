// The view of a Tenant: its objects in the order of their dependencies, each beside the live object on demand.

import { badge, card, conditions, diff, facts, h, link, sign, timeline, title as head, tree } from "../parts.js";
import { actionBar } from "../actions.js";
import { onDemand } from "../demand.js";
import { objectGraph } from "../graph.js";
import { keptObjects } from "../kept.js";
import { call } from "../session.js";

export function title(s) {
  return s.head.object.name;
}

export function layout(s) {
  return [
    head(s.head, "Tenant", [badge(`${s.head.ready} of ${s.head.desired} ready`, s.head.health), s.head.paused ? badge("Paused", "waiting") : null], actionBar(s.actions)),
    h("div", { class: "card row" }, facts([["uid", h("code", {}, s.head.uid)], ["Template", [link(s.head.template), ` generation ${s.head.templateGeneration}`]], ["Registry", link(s.head.registry)]])),
    card("Objects", objectGraph(s.levels, node)),
    s.drift.length ? card("Drift put back", timeline(s.drift, "drift")) : null,
    keptObjects(s.head.object.namespace, s.kept),
    h("div", { class: "columns" }, card("Timeline", timeline(s.timeline)), card("Conditions", conditions(s.conditions))),
  ];
}

function node(each) {
  return h("div", { class: `node ${each.health}`, "data-id": each.id },
    h("div", {}, sign(each.health), " ", h("span", { class: "id" }, each.id), each.policies.length ? h("span", {}, each.policies.map((policy) => [" ", badge(policy)])) : null),
    h("div", { class: "muted" }, each.object.kind, " ", link(each.object)),
    h("div", {}, each.text, each.changed ? h("span", { class: "muted" }, `, changed ${each.changed} ago`) : null),
    each.dependsOn.length ? h("div", { class: "from" }, `after ${each.dependsOn.join(", ")}`) : null,
    each.parts.length ? h("div", { class: "tree" }, tree(each.parts)) : null,
    each.isComparable ? compared(each) : h("div", { class: "from" }, "Secrets are never read."));
}

function compared(each) {
  const read = () => call("GET", `/api/compare?view=${encodeURIComponent(location.pathname)}&id=${encodeURIComponent(each.id)}`);
  return onDemand(`compare ${each.id}`, "Rendered and live", read, comparison);
}

function comparison(found) {
  return [found.message ? h("p", {}, found.message) : null, found.diff.length ? diff(found.diff) : h("pre", { class: "text", tabindex: "0" }, found.rendered)].filter(Boolean);
}
