// Search over all objects: `/` or Ctrl-K opens it, arrows choose, Enter opens the view.

import { h, sign } from "./dom.js";
import { call } from "./session.js";

const READING_MILLISECONDS = 1500;

function line(text) {
  return h("li", { class: "none", role: "option", "aria-selected": "false", "aria-disabled": "true" }, text);
}

export function startSearch(navigate) {
  const input = document.getElementById("query");
  const list = document.getElementById("hits");
  let hits = [];
  let chosen = -1;
  let searched = "";
  let waiting;
  let number = 0;

  const close = () => {
    clearTimeout(waiting);
    number += 1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (index) => {
    chosen = index;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    const item = list.children[chosen];
    if (item?.id) {
      input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    }
  };
  const open = (index) => {
    const hit = hits[index];
    if (!hit) return;
    input.value = "";
    close();
    input.blur();
    navigate(hit.object.href);
  };
  const find = async () => {
    const mine = ++number;
    const query = input.value.trim();
    if (!query) return close();
    const found = await call("GET", `/api/search?q=${encodeURIComponent(query)}`).catch((error) => ({ hits: [], isReading: false, problem: error.message }));
    if (mine !== number) return undefined;
    const before = query === searched ? hits[chosen]?.object.href : undefined;
    searched = query;
    hits = found.hits;
    list.replaceChildren(...hits.map((hit, index) => h("li", { role: "option", id: `hit-${index}`, "aria-selected": "false", onmousedown: (event) => { event.preventDefault(); open(index); } },
      sign(hit.health), h("span", { class: "name" }, `${hit.object.namespace}/${hit.object.name}`), h("span", { class: "muted" }, `${hit.object.kind}${hit.text ? ` · ${hit.text}` : ""}`))));
    if (found.isReading) list.append(line("Still reading: there may be more"));
    else if (!hits.length) list.append(line(found.problem ?? "Nothing found"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (hits.length) choose(Math.max(0, hits.findIndex((hit) => hit.object.href === before)));
    if (found.isReading) waiting = setTimeout(find, READING_MILLISECONDS);
    return undefined;
  };

  input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 120); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; close(); input.blur(); }
    else if (event.key === "ArrowDown") { event.preventDefault(); choose(Math.min(hits.length - 1, chosen + 1)); }
    else if (event.key === "ArrowUp") { event.preventDefault(); choose(Math.max(0, chosen - 1)); }
    else if (event.key === "Enter") { event.preventDefault(); open(chosen); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if ((event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}
