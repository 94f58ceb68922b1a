// Reports that are drawn as SVG. The page is whole without this: it adds a
// choice of theme, and shows the phase or class under the pointer or the focus
// in every picture; a click keeps it, Escape lets it go.

import { readHash, wireAnchors, writeHash } from "./hash.js";
import { wireTheme } from "./theme.js";

const MARKED = /** @type {(HTMLElement | SVGElement)[]} */ ([...document.querySelectorAll("[data-phase]")]);
/** What a click keeps. @type {string | undefined} */
let pinned;

/** @param {string} [phase] shows it, or what is kept */
function pick(phase = pinned) {
  document.body.classList.toggle("picked", phase !== undefined);
  for (const part of MARKED) {
    part.classList.toggle("on", part.dataset.phase === phase);
    if (part instanceof HTMLButtonElement) part.setAttribute("aria-pressed", String(part.dataset.phase === pinned));
  }
  document.dispatchEvent(new CustomEvent("pick", { detail: phase }));
}

/** @param {string} [phase] what a second click lets go */
function pin(phase) {
  pinned = phase;
  writeHash({ phase: phase ?? null });
  pick();
}

/** @param {EventTarget | null} target */
const phaseOf = (target) => (target instanceof Element ? target.closest("[data-phase]")?.getAttribute("data-phase") ?? undefined : undefined);

for (const part of MARKED) {
  part.addEventListener("pointerenter", () => pick(part.dataset.phase));
  part.addEventListener("pointerleave", () => pick());
}
// Not on the parts: Chromium takes a shape that listens for the focus for one that wants it.
document.addEventListener("focusin", ({ target }) => pick(phaseOf(target)));
document.addEventListener("focusout", () => pick());
document.addEventListener("click", (event) => {
  const phase = phaseOf(event.target);
  if (phase === undefined) return;
  const link = event.target instanceof Element ? event.target.closest("a[data-phase]") : null;
  if (link) {
    // A finding leads to the row of what it names.
    event.preventDefault();
    pin(phase);
    document.getElementById(phase)?.scrollIntoView({ block: "center" });
  } else {
    pin(pinned === phase ? undefined : phase);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  pin(undefined);
  pick();
});
wireAnchors();
wireTheme(() => {});
const kept = readHash().get("phase") ?? undefined;
if (MARKED.some((part) => part.dataset.phase === kept)) {
  pinned = kept;
  pick();
}
