// What to look at first: sentences, and the phases they name as buttons.


import { byId } from "../../assets/dom.js";

/** @import { App } from "./types" */

/** @param {App} app */
export function makeFindings(app) {
  const { findings, verdict, labels } = app.data.meta;
  const verdictText = byId("verdict");
  verdictText.textContent = verdict;
  verdictText.hidden = !verdict;
  byId("findings-block").hidden = !findings.length && !verdict;
  /** @type {{ button: HTMLButtonElement, swatch: HTMLElement, l: number }[]} */
  const buttons = [];
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
      button.addEventListener("click", () => app.pin(l));
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && app.state.shown[l] && app.highlight(l));
      button.addEventListener("pointerleave", () => app.highlight(-1));
      buttons.push({ button, swatch, l });
      item.append(" ", button);
    }
    byId("findings").append(item);
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
