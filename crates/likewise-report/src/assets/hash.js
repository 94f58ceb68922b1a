// What the reader chose stands in the address, so that it can be kept and
// passed on: `#phase=3&x=IPC`.

/** @returns {URLSearchParams} */
export const readHash = () => new URLSearchParams(location.hash.slice(1));

/** @param {Record<string, string | null>} entries null takes one out */
export function writeHash(entries) {
  const hash = readHash();
  for (const [name, value] of Object.entries(entries)) {
    if (value === null) hash.delete(name);
    else hash.set(name, value);
  }
  const text = `${hash}`.replaceAll("%2C", ",").replaceAll("+", "%20");
  if (location.hash.slice(1) === text) return;
  // Without a step back in the history for each.
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

/** Links within the page scroll, and leave the address to the choices. */
export function wireAnchors() {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    const to = link && document.getElementById(link.getAttribute("href")?.slice(1) ?? "");
    if (!to || event.defaultPrevented) return;
    event.preventDefault();
    to.scrollIntoView();
  });
}
