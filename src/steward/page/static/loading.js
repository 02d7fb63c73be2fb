// Loaded before the modules: a module that cannot be loaded, as when a laptop changes its network, leaves no code that
// could say so. The page is then loaded again, a few times.

const MOST_ATTEMPTS = 3;
const PAUSE_MILLISECONDS = 1500;

addEventListener("error", (event) => {
  if (event.target?.tagName !== "SCRIPT") return;
  const attempts = Number(sessionStorage.getItem("attempts") ?? 0) + 1;
  const main = document.getElementById("main");
  const isLast = attempts > MOST_ATTEMPTS;
  if (main) main.textContent = isLast ? "The page could not be loaded: the server does not answer. Reload it to try again." : "Loading again…";
  sessionStorage.setItem("attempts", String(isLast ? 0 : attempts));
  if (!isLast) setTimeout(() => location.reload(), PAUSE_MILLISECONDS);
}, true);
