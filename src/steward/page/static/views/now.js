// The view Now: counts, what waits for a user, and the sentences of `steward status`.

import { card, h, plural, rolloutBar, link, sentence, sign, unread, waitingLine } from "../parts.js";
import { SIGNS } from "../dom.js";

const NAMES = { MultigresCluster: "Clusters", TenantRegistry: "Registries", TenantTemplate: "Templates", Tenant: "Tenants" };

export function title() {
  return "Now";
}

export function layout(s) {
  return [
    h("div", { class: "title" }, h("h1", { tabindex: "-1", "data-key": "title" }, "Now"), h("p", { class: "said" }, summary(s)),
      s.reading ? unread(s.reading, "Tenants and the parts of clusters") : null),
    problems(s.problems, s.sentences.shown.length === 0),
    tiles(s),
    waiting(s),
    h("section", { class: "card" }, h("h2", {}, "Status"), statusLines(s.sentences)),
  ];
}

function summary(s) {
  const failed = s.counts.reduce((sum, each) => sum + each.failed, 0);
  const pending = s.counts.reduce((sum, each) => sum + each.waiting, 0);
  if (failed) return [sign("failed"), ` ${plural(failed, "object")} failed.`];
  if (pending) return [sign("waiting"), ` ${plural(pending, "object")} not ready yet.`];
  return s.sentences.shown.length ? [sign("ready"), " Everything is ready."] : "Nothing is here yet.";
}

function problems(lines, isEmpty) {
  if (!lines.length) return null;
  const list = h("ul", {}, lines.map((line) => h("li", {}, line)));
  return h("div", { class: "note" }, isEmpty ? list : h("details", { "data-key": "problems" }, h("summary", {}, "Some of the cluster is not shown"), list));
}

function tiles(s) {
  const counted = s.counts.map((each) => h("div", { class: `tile ${each.failed ? "alert" : ""}` },
    h("div", { class: "label" }, NAMES[each.kind]),
    h("div", { class: "number" }, (each.failed + each.waiting + each.ready).toLocaleString("en")),
    h("div", { class: "split" }, ["failed", "waiting", "ready"].filter((health) => each[health]).map((health) =>
      h("span", { class: `${health}-text` }, `${SIGNS[health]} ${each[health].toLocaleString("en")}`, h("span", { class: "skip" }, ` ${health}`))))));
  const others = [["Deletions held", s.holds.length, "alert"], ["Updates", s.updates.length, "warn"],
    ["Rows rejected", s.rejected.length, "alert"], ["Rollouts", s.rollouts.length, "warn"]];
  return h("div", { class: "tiles" }, counted, others.map(([name, count, alert]) => h("div", { class: `tile ${count ? alert : ""}` },
    h("div", { class: "label" }, name), h("div", { class: "number" }, count))));
}

function waiting(s) {
  const cards = [
    group("Held deletions", s.holds, "failed"),
    group("Waiting updates", s.updates, "waiting"),
    group("Rejected rows", s.rejected, "failed"),
    group("Backups", s.backups, "failed"),
    group("Unused volumes", s.claims, "waiting"),
    s.rollouts.length ? card("Rollouts", h("ul", { class: "lines" }, s.rollouts.map((rollout) => h("li", {},
      sign(rollout.phase === "Failed" ? "failed" : "waiting"),
      h("div", { class: "body" }, link(rollout.object), rollout.message ? `: ${rollout.message}` : "", rolloutBar(rollout)))))) : null,
  ].filter(Boolean);
  return cards.length ? h("div", { class: cards.length > 1 ? "masonry" : "" }, cards) : null;
}

function group(name, items, health) {
  return items.length ? card(name, h("ul", { class: "lines" }, items.map((item) => waitingLine(item, health)))) : null;
}

function statusLines(sentences) {
  if (!sentences.shown.length) return h("p", { class: "muted" }, "There is no MultigresCluster and no TenantRegistry here.");
  return [h("ul", { class: "lines" }, sentences.shown.map(sentence)),
    sentences.more ? h("p", { class: "muted" }, `${plural(sentences.more, "more line")}; the search finds them.`) : null];
}
