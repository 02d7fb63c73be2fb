// The lab: a template and rows are checked, rendered and compared as one types. Nothing is written.

import { card, diff, h, plural, sign } from "../parts.js";
import { replaceContent } from "../dom.js";
import { call } from "../session.js";

const TEMPLATE = `apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata:
  name: web
spec:
  registryId: customers
  configMaps:
    - id: settings
      nameTemplate: "{{ .uid }}-settings"
      spec:
        apiVersion: v1
        kind: ConfigMap
        data:
          host: "{{ .host }}"
`;
const ROWS = `uid,hostOrUrl,activate
acme,https://acme.example.com,true
`;
let kept = { manifests: TEMPLATE, rows: ROWS };
let waiting;
let number = 0;

export function labView() {
  const result = h("div", { "aria-live": "polite" });
  const manifests = editor("lab-template", kept.manifests, "");
  const rows = editor("lab-rows", kept.rows, "rows");
  const change = () => {
    kept = { manifests: manifests.value, rows: rows.value };
    clearTimeout(waiting);
    waiting = setTimeout(() => tryOut(result), 300);
  };
  for (const each of [manifests, rows]) each.addEventListener("input", change);
  const load = async (event) => {
    if (!event.target.value) return;
    try {
      manifests.value = (await call("GET", `/api/template?name=${encodeURIComponent(event.target.value)}`)).text;
      change();
    } catch (error) {
      replaceContent(result, h("p", { class: "error" }, error.message));
    }
  };
  const choice = h("select", { id: "lab-load", onchange: load }, h("option", { value: "" }, "Load a template of the cluster"));
  call("GET", "/api/templates").then((names) => choice.append(...names.map((name) => h("option", { value: name }, name))), () => {});
  tryOut(result);
  return [
    h("div", { class: "title" }, h("h1", { tabindex: "-1" }, "Lab"),
      h("p", { class: "said" }, "Checks and renders a template with rows as you type, and compares the objects with the live ones. Nothing is written.")),
    h("div", { class: "lab" },
      h("section", { class: "card" }, h("div", { class: "filters" }, h("label", { for: "lab-load" }, "Start from", choice)),
        h("h3", {}, h("label", { for: "lab-template" }, "Template, and its registry if it has other columns")), manifests,
        h("h3", {}, h("label", { for: "lab-rows" }, "Rows, as CSV, JSON or YAML; the first 20 count")), rows),
      result)];
}

function editor(id, text, name) {
  const area = h("textarea", { id, class: name, spellcheck: "false", autocomplete: "off" });
  area.value = text;
  return area;
}

async function tryOut(result) {
  const mine = ++number;
  try {
    const found = await call("POST", "/api/lab", kept);
    if (mine === number) replaceContent(result, ...draw(found));
  } catch (error) {
    if (mine === number) replaceContent(result, card("Result", h("p", { class: "error" }, error.message)));
  }
}

function draw(found) {
  const problems = found.findings.map((each) => h("li", {}, sign(each.severity === "error" ? "failed" : "waiting"),
    h("div", { class: "body" }, h("span", { class: "muted" }, `line ${each.line}: `), each.message, each.hints.map((hint) => h("div", { class: "muted" }, hint)))));
  const rejected = found.rejected.map((line) => h("li", {}, sign("failed"), h("div", { class: "body" }, line)));
  const checks = [...problems, ...rejected];
  return [
    card("Checks", found.error ? h("pre", { class: "text error" }, found.error) : null,
      checks.length ? h("ul", { class: "lines" }, checks) : found.error ? null : h("p", {}, sign("ready"), " No problems.")),
    card(plural(found.objects.length, "object"), found.objects.map(object)),
  ];
}

const CHANGES = { new: "ready", changed: "waiting", same: "" };

function object(each, index) {
  return h("details", { "data-key": `object ${each.kind} ${each.name}`, open: index === 0 },
    h("summary", {}, `${each.kind} ${each.name}`, " ", h("span", { class: `badge ${CHANGES[each.change] ?? ""}` }, each.change)),
    each.diff.length ? diff(each.diff) : h("pre", { class: "text", tabindex: "0" }, each.text));
}
