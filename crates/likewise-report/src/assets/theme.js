// Light or dark: as the system is, until the reader chooses; the choice is
// kept where the browser allows it. Paper is light.

import { byId } from "./dom.js";

const KEPT_AS = "likewise-theme";
const DARK_SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const ROOT = document.documentElement;

/** @returns {"light" | "dark"} */
export function themeNow() {
  const { theme } = ROOT.dataset;
  return theme === "dark" || theme === "light" ? theme : DARK_SYSTEM.matches ? "dark" : "light";
}

/** What the reader chose; browsers may refuse to keep it for a file. */
function keptTheme() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function keepTheme(theme) {
  try {
    localStorage.setItem(KEPT_AS, theme);
  } catch {
    // It lasts as long as the page.
  }
}

/** Tables that do not fit a sheet of paper get smaller: 186 mm at 96 dpi. */
function fitPaper() {
  for (const table of document.querySelectorAll(".scroll > table")) {
    if (!(table instanceof HTMLElement)) continue;
    table.style.width = "min-content";
    let size = 1;
    // Not all of it shrinks alike.
    for (let again = 0; again < 3; again++) {
      table.style.setProperty("--paper", String(size));
      size = Math.min(size, (size * 695) / Math.max(table.offsetWidth, 1));
    }
    table.style.setProperty("--paper", String(size));
    table.style.width = "";
  }
}

/**
 * Wires the button of the theme.
 * @param {() => void} changed draws what has the colours of the theme
 */
export function wireTheme(changed) {
  const button = byId("theme", HTMLButtonElement);
  const tell = () => {
    button.textContent = themeNow() === "dark" ? "Light" : "Dark";
    changed();
  };
  const kept = keptTheme();
  if (kept === "dark" || kept === "light") ROOT.dataset.theme = kept;
  button.addEventListener("click", () => {
    ROOT.dataset.theme = themeNow() === "dark" ? "light" : "dark";
    keepTheme(ROOT.dataset.theme);
    tell();
  });
  DARK_SYSTEM.addEventListener("change", tell);
  /** @type {string | undefined} */
  let before;
  addEventListener("beforeprint", () => {
    before = ROOT.dataset.theme;
    ROOT.dataset.theme = "light";
    document.body.classList.add("paper");
    fitPaper();
    tell();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete ROOT.dataset.theme;
    else ROOT.dataset.theme = before;
    document.body.classList.remove("paper");
    tell();
  });
  tell();
  button.hidden = false;
}
