// Objects that Tenants of a namespace have left behind, read when the reader opens the list.

import { onDemand } from "./demand.js";
import { card, h, link, plural, timeline } from "./parts.js";
import { call } from "./session.js";

export function keptObjects(namespace, moments) {
  return card("Kept objects", moments.length ? timeline(moments, "kept") : null, list(namespace));
}

function list(namespace) {
  const read = () => call("GET", `/api/kept?view=${encodeURIComponent(location.pathname)}`);
  return onDemand("kept", `All that Tenants have left in namespace ${namespace}`, read, draw);
}

function draw(found) {
  return [
    found.shown.length ? h("ul", { class: "lines after" }, found.shown.map((each) => h("li", {}, h("div", { class: "body" },
      h("span", { class: "muted" }, `${each.object.kind} `), link(each.object, each.object.name), `: ${each.text}`)))) : h("p", { class: "muted" }, "Nothing; Secrets are never read."),
    found.more ? h("p", { class: "muted" }, `and ${plural(found.more, "more object")}`) : null,
    ...found.problems.map((line) => h("p", { class: "muted" }, line)),
  ].filter(Boolean);
}
