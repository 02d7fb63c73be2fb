// A graph of objects: a column for each level of dependencies, and a line from each object to those that wait for it.

import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

export function objectGraph(levels, node) {
  if (!levels.length) return h("p", { class: "muted" }, "The template has no objects for this row.");
  const columns = levels.map((level, index) => h("div", { class: "level" },
    levels.length > 1 ? h("h3", {}, index === 0 ? "First" : "Then") : null, level.map(node)));
  const lines = document.createElementNS(SVG, "svg");
  lines.setAttribute("aria-hidden", "true");
  const graph = h("div", { class: "levels" }, columns);
  graph.prepend(lines);
  const edges = levels.flat().flatMap((each) => each.dependsOn.map((before) => [before, each.id]));
  // Boxes grow when a comparison is opened in one, and columns wrap on narrow screens.
  if (edges.length) new ResizeObserver(() => draw(graph, lines, edges)).observe(graph);
  return graph;
}

function draw(graph, lines, edges) {
  const origin = graph.getBoundingClientRect();
  const box = (id) => graph.querySelector(`[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
  lines.setAttribute("viewBox", `0 0 ${Math.max(1, origin.width)} ${Math.max(1, origin.height)}`);
  lines.replaceChildren(...edges.map(([before, after]) => line(box(before), box(after), origin)).filter(Boolean));
}

// Only from left to right: in stacked columns the words "after …" say it.
function line(from, to, origin) {
  if (!from || !to || from.right >= to.left) return null;
  const [x1, y1] = [from.right - origin.left, from.top + 22 - origin.top];
  const [x2, y2] = [to.left - origin.left, to.top + 22 - origin.top];
  const bend = (x2 - x1) / 2;
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2 - 6} ${y2} m -5 -4 l 6 4 l -6 4`);
  return path;
}
