// The view of a MultigresCluster.

import { badge, card, command, conditions, day, diff, facts, h, sign, table, timeline, title as head, tree, unread, when, whole } from "../parts.js";
import { actionBar, actionsAbout } from "../actions.js";

export function title(s) {
  return s.head.object.name;
}

export function layout(s) {
  return s.reading ? firstLayout(s) : wholeLayout(s);
}

function firstLayout(s) {
  return [
    head(s.head, "MultigresCluster", states(s.head), actionBar(s.actions)),
    card("Servers", unread(s.reading, "servers, volumes and backups")),
    h("div", { class: "columns" }, card("Connect", connect(s.head)), card("Timeline", timeline(s.timeline))),
    card("Conditions", conditions(s.conditions)),
  ];
}

function wholeLayout(s) {
  return [
    head(s.head, "MultigresCluster", states(s.head), actionBar(s.actions)),
    updates(s.updates),
    card("Servers", grid(s.grid)),
    h("div", { class: "columns" }, card("Connect", connect(s.head)), card("Backups", backups(s.backups))),
    card("Volumes", volumes(s.volumes)),
    card("Certificates", certificates(s.certificates)),
    revisions(s.updates),
    h("div", { class: "columns" },
      card("Parts", h("div", { class: "tree" }, tree(s.parts) ?? h("p", { class: "muted" }, "No parts yet."))),
      card("Timeline", timeline(s.timeline))),
    card("Conditions", conditions(s.conditions)),
  ];
}

// The phase of a paused cluster is Paused once the operator has seen it.
function states(data) {
  const switched = [data.paused ? "Paused" : "", data.hibernated ? "Hibernated" : ""].filter((word) => word && word !== data.phase);
  return [data.phase ? badge(data.phase, data.phase === "Paused" ? "waiting" : data.health) : null, switched.map((word) => badge(word, "waiting"))];
}

function grid(data) {
  if (!data.rows.length) return h("p", { class: "muted" }, "No shard yet.");
  return h("div", { class: "grid" }, data.rows.map((row) => h("div", { class: "shard" },
    h("div", {}, h("div", {}, sign(row.health), " ", h("strong", { class: "mono" }, row.shard)), h("div", { class: "muted" }, row.message), actionsAbout(row.shard)),
    h("div", { class: "cells" }, data.cells.map((cell, index) => h("div", { class: "cell" },
      h("div", { class: "head" }, cell || "no cell"),
      row.cells[index].length ? row.cells[index].map(server) : h("div", { class: "muted" }, "–")))))));
}

function server(each) {
  const primary = each.role === "Primary";
  return h("div", { class: `server ${each.health}`, title: each.pod },
    sign(each.health),
    h("div", { class: "what" }, h("div", { class: "pod mono" }, each.pod),
      h("div", { class: "state" }, [each.role, each.pool].filter(Boolean).join(" · ")),
      h("div", { class: "state" }, [each.age ? `${each.state} for ${each.age}` : each.state, each.lag ? `${each.lag} behind` : ""].filter(Boolean).map(whole).join(" · "))),
    primary ? h("span", { class: "primary", role: "img", "aria-label": "primary" }, "★") : null);
}

function connect(data) {
  return facts([["Endpoint", data.endpoint ? h("code", {}, data.endpoint) : ""], ["Outside", data.externalEndpoint ? h("code", {}, data.externalEndpoint) : ""],
    ["Secret", data.connectionSecret ? [h("code", {}, data.connectionSecret), h("div", { class: "muted" }, "Mount it: host, port, user, password, dbname, uri. The page never reads it.")] : ""],
    ["Services", data.services.map((name) => h("div", {}, h("code", {}, name)))]]);
}

function backups(data) {
  const shards = data.shards.filter((each) => each.last || each.next);
  const made = shards.length ? table(["Shard", "Last", "Kept", "Size", "Next", "Checked"], shards.map((each) => [
    h("span", { class: "mono" }, each.shard), each.lastAge ? `${each.lastAge} ago` : "none", each.count, each.size || "–", when(each.next),
    each.error ? h("span", { class: "error" }, each.error) : each.verified ? `${each.verified} ago` : "–"]), "Backups of shards") : null;
  const asked = data.requested.length ? table(["Backup", "State", "Type", "Completed"], data.requested.map((each) => [each.name, [each.phase, each.message ? h("div", { class: "muted" }, each.message) : null], each.type, when(each.completed)]), "Requested backups") : null;
  return made || asked ? [made, asked ? [h("h3", {}, "Requested"), asked] : null] : h("p", { class: "muted" }, "No backup yet.");
}

function volumes(data) {
  if (!data.claims.length) return h("p", { class: "muted" }, "No volume claims.");
  return [table(["Claim", "State", "Server", "Asked", "Has"], data.claims.map((each) => [
    h("span", { class: "mono" }, each.claim), each.state, h("span", { class: "mono" }, each.server || "–"), each.asked,
    each.had === each.asked ? each.had : [sign("waiting"), ` ${each.had || "none"}`]]), "Volume claims"),
    data.kept.length ? h("pre", { class: "text" }, data.kept.join("\n")) : null];
}

function certificates(lines) {
  const hasTls = lines.some((each) => each.usedBy === "gateways");
  return [lines.length ? table(["Used by", "State", "Ends", "Renewed by", "Secret"], lines.map((each) => [
    each.usedBy === "gateways" ? h("strong", {}, "Gateways") : ["Backups of ", h("span", { class: "mono whole" }, each.usedBy)], [sign(each.health), " ", each.text],
    each.ends ? [day(each.ends), " ", each.left ? h("span", { class: "muted" }, whole(`in ${each.left}`)) : null] : "–",
    h("span", { class: "whole" }, each.renewedBy), h("span", { class: "mono" }, each.secret)]), "Certificates") : null,
    h("p", { class: "muted after" }, hasTls ? "" : "Gateways offer no TLS: gatewayTls turns it on. ", lines.length ? "The page never reads these Secrets." : "")];
}

function revisions(data) {
  if (!data.revisions.length) return null;
  return card("Template revisions", table(["Template", "Generation", "Revision", "State"], data.revisions.map((each) => [
    each.template, each.generation, h("span", { class: "mono" }, each.name), each.isActive ? [sign("ready"), " active"] : actionsAbout(each.name) ?? "earlier"]), "Template revisions"));
}

function updates(data) {
  if (!data.isWaiting && !data.diffs.length) return null;
  return card("Waiting update", h("p", {}, data.message), command(data.command), data.diffs.map((each) => diff(each.lines)));
}
