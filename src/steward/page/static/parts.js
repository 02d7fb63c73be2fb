// Parts that several views use: links, sentences, commands to copy, timelines, diffs and bars.

import { h, sign, plural } from "./dom.js";

export function link(object, text) {
  const name = text ?? (object.namespace ? `${object.namespace}/${object.name}` : object.name);
  return object.href ? h("a", { href: object.href, "data-key": `link ${object.kind} ${name}` }, name) : h("span", {}, name);
}

// The command stands below the sentence, where it can be copied: at the end of the sentence it would stand twice.
function withoutCommand({ text, command: line }) {
  for (const end of line ? [`${line}.`, line] : []) if (text.endsWith(end)) return text.slice(0, -end.length).trimEnd();
  return text;
}

// A sentence begins with the kind and the name of its object: that part becomes the link.
export function sentenceText(sentence) {
  const { object } = sentence;
  const text = withoutCommand(sentence);
  const name = `${object.kind} ${object.namespace}/${object.name}`;
  if (!object.href || !text.startsWith(name)) return text;
  return [h("a", { href: object.href, "data-key": `said ${name}` }, name), text.slice(name.length)];
}

export function sentence(item) {
  return h("li", {}, sign(item.health), h("div", { class: "body" }, h("span", {}, sentenceText(item)), command(item.command),
    item.notes.map((note) => h("div", { class: "about" }, withoutCommand(note), command(note.command)))));
}

export function command(line) {
  if (!line) return null;
  const button = h("button", { type: "button", "data-key": `copy ${line}`, "aria-label": `Copy: ${line}`, onclick: () => copy(line, button) }, "Copy");
  return h("div", { class: "command" }, h("code", {}, line), button);
}

async function copy(line, button) {
  try {
    await navigator.clipboard.writeText(line);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

export function waitingLine(item, health) {
  const names = item.names?.length ? h("div", { class: "names" }, item.names.map((name) => h("code", {}, link(name, name.name))),
    item.moreNames ? h("span", { class: "muted" }, `and ${item.moreNames.toLocaleString("en")} more`) : null) : null;
  return h("li", {}, sign(health), h("div", { class: "body" }, h("div", {}, link(item.object), ": ", withoutCommand(item)), names, command(item.command)));
}

export function card(title, ...content) {
  return h("section", { class: "card" }, h("h2", {}, title), content);
}

// In place of a list that the server has not read yet.
export function unread(reading, what) {
  return h("p", { class: "muted" }, `Reading ${what}… ${plural(reading.objects, "object")} so far.`);
}

export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export function table(heads, rows, name) {
  return h("div", { class: "wide" }, h("table", { class: "narrow", "aria-label": name },
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, index) => h("td", { "data-label": heads[index] }, h("span", {}, cell))))))));
}

export function badge(text, health) {
  return h("span", { class: `badge ${health ?? ""}` }, text);
}

export function rolloutBar(rollout) {
  const failed = rollout.phase === "Failed";
  const words = [
    `${rollout.done} of ${rollout.total} done`,
    rollout.updating ? `${rollout.updating} ${failed ? "failed" : "under way"}` : "",
    rollout.heldBack ? `${rollout.heldBack} waiting${rollout.maxSkew ? ` (maxSkew ${rollout.maxSkew})` : ""}` : "",
  ].filter(Boolean);
  return h("div", { class: "rollout" },
    h("div", { class: "stack", role: "img", "aria-label": words.join(", ") },
      h("span", { class: "done", grow: rollout.done }), h("span", { class: failed ? "failed" : "updating", grow: rollout.updating }), h("span", { class: "held", grow: rollout.heldBack })),
    h("div", { class: "legend" }, words.map((word) => h("span", {}, word))));
}

export function diff(lines) {
  const kinds = { "+": "add", "-": "del", "@": "at" };
  return h("div", { class: "diff", tabindex: "0", role: "group", "aria-label": "Differences" },
    lines.map((line) => h("div", { class: /^(---|\+\+\+)/.test(line) ? "at" : kinds[line[0]] }, line || " ")));
}

const EVENT_HEALTH = { Warning: "failed", Normal: "ready" };

const FIRST_MOMENTS = 8;

// A new cluster has dozens of events within a minute: the later ones are folded.
export function timeline(moments, name = "timeline") {
  if (!moments.length) return h("p", { class: "muted" }, "Nothing in the last hour.");
  const [first, rest] = [moments.slice(0, FIRST_MOMENTS), moments.slice(FIRST_MOMENTS)];
  return [h("ul", { class: "timeline" }, first.map(momentLine)),
    rest.length ? h("details", { class: "after", "data-key": `more ${name}` }, h("summary", {}, `${rest.length} earlier`), h("ul", { class: "timeline" }, rest.map(momentLine))) : null];
}

function momentLine(moment) {
  return h("li", {},
    h("time", { datetime: moment.time, title: moment.time }, moment.age ? `${moment.age} ago` : ""),
    h("span", { class: `sign ${EVENT_HEALTH[moment.type] ?? ""}`, "aria-hidden": "true" }, moment.type === "Warning" ? "!" : moment.type === "Condition" ? "◇" : "•"),
    h("div", { class: "body" }, h("span", { class: "reason" }, moment.reason), " ", h("span", { class: "muted" }, `${moment.kind} `, moment.href === location.pathname ? moment.name : link(moment, moment.name)),
      moment.times > 1 ? h("span", { class: "muted" }, ` ×${moment.times}`) : null, h("div", {}, moment.message)));
}

export function conditions(lines) {
  return table(["Condition", "Status", "Since", "Message"], lines.map((line) => [
    h("span", { class: "whole" }, line.type), badge(line.status, ""), h("span", { class: "whole" }, line.age), [h("strong", {}, line.reason), line.message ? `: ${line.message}` : ""]]), "Conditions");
}

export function tree(parts) {
  if (!parts.length) return null;
  return h("ul", {}, parts.map((part) => h("li", {}, sign(part.health), " ",
    part.object ? [h("span", { class: "muted" }, part.object.kind), " ", link(part.object, part.object.name)] : null,
    part.text ? (part.object ? `: ${part.text}` : part.text) : null, tree(part.parts))));
}

// A number and its unit stay on one line.
export function whole(text) {
  return text.replaceAll(" ", "\u00a0");
}

export function day(time) {
  return h("time", { datetime: time, title: time, class: "whole" }, time.slice(0, 10));
}

export function when(time) {
  return time ? h("time", { datetime: time, title: time }, time.replace("T", " ").slice(0, 16)) : "–";
}

function trail(head, kind) {
  const above = [{ href: "/now", name: "Now", kind: "" }, ...(head.trail ?? [])];
  return h("nav", { class: "trail", "aria-label": "Belongs to" }, above.map((each) => [link(each, each.name), h("span", { "aria-hidden": "true" }, " › ")]), h("span", { class: "kind" }, kind));
}

export function title(head, kind, badges, actions) {
  return h("div", { class: "title" },
    trail(head, kind),
    h("div", { class: "heading" },
      h("h1", { tabindex: "-1", "data-key": "title" }, `${head.object.namespace}/`, h("wbr"), head.object.name),
      h("div", { class: "badges" }, badges), actions),
    h("p", { class: "said" }, sign(head.health), " ", withoutCommand(head)),
    command(head.command));
}

export { h, sign, plural };
