// Actions on the object of a view. The server names those that the reader's rights allow; each shows its command and a
// dry run before it is done, and a deletion asks for the name.

import { h, replaceContent } from "./dom.js";
import { command, diff } from "./parts.js";
import { call, session } from "./session.js";

let known = { key: "", actions: [] };

// The actions on the object of the view. `version` changes with what is possible; then they are read again.
export function actionBar(version) {
  if (!session.data?.allowsActions) return null;
  const key = `${location.pathname} ${version}`;
  if (!known.key.startsWith(`${location.pathname} `)) known = { key: "", actions: [] };
  if (known.key !== key) load(key);
  return actionsAbout("");
}

// The actions on a part of that object: a shard, a template or a revision.
export function actionsAbout(about) {
  if (!session.data?.allowsActions) return null;
  const bar = h("div", { class: "actions", role: "group", "aria-label": about ? `Actions on ${about}` : "Actions", "data-about": about });
  fill(bar);
  return bar;
}

async function load(key) {
  known.key = key;
  // A request that fails is repeated when the view is drawn next.
  const actions = await call("GET", `/api/actions?view=${encodeURIComponent(location.pathname)}`).catch(() => null);
  if (known.key !== key) return;
  known = actions ? { key, actions } : { key: "", actions: known.actions };
  document.querySelectorAll("[data-about]").forEach(fill);
}

function fill(bar) {
  const found = known.actions.filter((action) => action.about === bar.dataset.about);
  const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  bar.replaceChildren(...found.map((action) => h("button", { type: "button", class: action.typed ? "danger" : "", "aria-label": action.label, "data-key": `action ${action.id}`, onclick: () => open(action) }, action.short)));
  if (focused) bar.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

async function open(action) {
  const body = h("div", {}, h("p", { class: "muted" }, "Asking the API server what would change…"));
  const dialog = h("dialog", { "aria-labelledby": "action-title" }, h("h2", { id: "action-title" }, action.label), body);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  try {
    const found = await send(action, "", "");
    replaceContent(body, ...question(action, found, dialog, body));
    (body.querySelector("input, .actions button") ?? body.querySelector("button"))?.focus();
  } catch (error) {
    replaceContent(body, h("p", { class: "error" }, error.message), close(dialog));
  }
}

function send(action, confirmed, typed) {
  return call("POST", "/api/action", { view: location.pathname, id: action.id, confirmed, typed });
}

function question(action, found, dialog, body) {
  const parts = [h("p", {}, found.text), command(found.command)];
  if (found.refusal) return [...parts, h("p", { class: "error" }, found.refusal), close(dialog)];
  const typed = action.typed ? h("input", { id: "typed", autocomplete: "off", spellcheck: "false" }) : null;
  const doIt = h("button", { type: "button", class: action.typed ? "danger" : "main", disabled: Boolean(typed) }, action.short);
  typed?.addEventListener("input", () => { doIt.disabled = typed.value !== action.typed; });
  doIt.addEventListener("click", async () => {
    doIt.disabled = true;
    try {
      const done = await send(action, found.digest, typed?.value ?? "");
      replaceContent(body, h("p", { role: "status" }, done.message), close(dialog));
      body.querySelector("button").focus();
    } catch (error) {
      replaceContent(body, h("p", { class: "error", role: "alert" }, error.message), close(dialog));
    }
  });
  return [...parts, diff(found.diff),
    typed ? h("p", { class: "ask" }, h("label", { for: "typed" }, "Type ", h("strong", {}, action.typed), " to confirm"), typed) : null,
    h("div", { class: "actions" }, doIt, close(dialog))];
}

function close(dialog) {
  return h("button", { type: "button", onclick: () => dialog.close() }, "Close");
}
