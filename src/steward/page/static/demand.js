// Details that are read when the reader opens them. A view is drawn again at every change: what was read is then shown
// at once, and read again only after a while.

import { h } from "./dom.js";

const FRESH_MILLISECONDS = 10_000;
const shown = new Map();

export function onDemand(key, summary, read, draw) {
  const content = h("div", {});
  const place = `${location.pathname} ${key}`;
  const load = async (event) => {
    if (!event.target.open) return shown.delete(place);
    const known = shown.get(place);
    if (known) content.replaceChildren(...draw(known.found));
    else content.replaceChildren("Reading…");
    if (known && Date.now() - known.at < FRESH_MILLISECONDS) return undefined;
    try {
      const found = await read();
      shown.set(place, { found, at: Date.now() });
      content.replaceChildren(...draw(found));
    } catch (error) {
      content.replaceChildren(h("p", { class: "error" }, error.message));
    }
    return undefined;
  };
  return h("details", { "data-key": key, ontoggle: load }, h("summary", {}, summary), content);
}
