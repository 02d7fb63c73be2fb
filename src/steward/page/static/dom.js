// Builds elements. Data reaches the page as text nodes and attributes only; no HTML is ever made from text.

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "href") setAddress(element, value);
    else if (name === "grow") element.style.flexGrow = String(value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name === "class" ? "class" : name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

// Only paths of this server become links: a name in the cluster must not name another place.
function setAddress(element, address) {
  if (typeof address === "string" && address.startsWith("/") && !address.startsWith("//")) {
    element.setAttribute("href", address);
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// Replaces the content of a container, and keeps the focus, open details and scroll positions inside it.
export function replaceContent(container, ...content) {
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const open = new Set([...container.querySelectorAll("details[open][data-key]")].map((each) => each.dataset.key));
  const scrolled = [...container.querySelectorAll(".wide")].map((each) => each.scrollLeft);
  container.replaceChildren();
  append(container, content);
  for (const each of container.querySelectorAll("details[data-key]")) if (open.has(each.dataset.key)) each.open = true;
  container.querySelectorAll(".wide").forEach((each, index) => { each.scrollLeft = scrolled[index] ?? 0; });
  if (focused) container.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

export const SIGNS = { ready: "✓", waiting: "…", failed: "✗" };
const WORDS = { ready: "ready", waiting: "waiting", failed: "failed" };

export function sign(health) {
  return h("span", { class: `sign ${WORDS[health] ?? ""}`, role: "img", "aria-label": WORDS[health] ?? health }, SIGNS[health] ?? "·");
}

export function plural(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}
