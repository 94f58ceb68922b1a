// What to look at first: sentences, and the phases they name as buttons.


import { byId } from "../../assets/dom.js";

/** @import { App } from "./types" */

/** @param {App} app */
export function makeFindings(app) {
  const { findings, verdict, labels } = app.data.meta;
  const verdictText = byId("verdict");
  verdictText.textContent = verdict;
  verdictText.hidden = !verdict;
  byId("first-title").parentElement?.toggleAttribute("hidden", !findings.length && !verdict);
  /** @type {{ button: HTMLButtonElement, swatch: HTMLElement, l: number }[]} */
  const buttons = [];
  /**
   * Keeps a phase highlighted and shows its row.
   * @param {number} l
   */
  const go = (l) => {
    app.state.pinned = l;
    app.update();
    // Unfolded, where it is a small one.
    const row = document.getElementById(`row-${l}`);
    if (row?.hidden) document.querySelector("#phases .sorter[aria-expanded=false]")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    row?.scrollIntoView({ block: "center" });
  };
  for (const finding of findings) {
    const item = document.createElement("li");
    item.append(document.createTextNode(finding.text));
    for (const l of finding.labels) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "control finding-phase";
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      button.append(swatch, document.createTextNode(labels[l].name));
      button.addEventListener("click", () => go(l));
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && app.state.shown[l] && app.highlight(l));
      button.addEventListener("pointerleave", () => app.highlight(-1));
      // One stop of the Tab key for a finding; arrow keys go on from there.
      button.tabIndex = l === finding.labels[0] ? 0 : -1;
      button.addEventListener("keydown", (event) => {
        const next = event.key === "ArrowRight" ? button.nextElementSibling : event.key === "ArrowLeft" ? button.previousElementSibling : null;
        if (next instanceof HTMLElement) next.focus();
      });
      buttons.push({ button, swatch, l });
      item.append(" ", button);
    }
    byId("first").append(item);
  }
  return {
    refresh() {
      for (const { button, swatch, l } of buttons) {
        swatch.style.background = app.colour(l);
        button.setAttribute("aria-pressed", String(app.state.pinned === l));
      }
    },
  };
}
