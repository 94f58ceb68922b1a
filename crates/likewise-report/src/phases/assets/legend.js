// The list of phases: it colours, hides, isolates and highlights.

import { byId } from "../../assets/dom.js";
import { percent } from "../../assets/format.js";
import { button } from "./view.js";

/** @import { App, PhaseRow } from "./types" */

/**
 * A button that opens and closes the rows of the small phases.
 * @param {PhaseRow[]} phases
 * @param {HTMLElement[]} rows
 * @param {string} className
 */
export function foldButton(phases, rows, className) {
  const share = phases.reduce((sum, phase) => sum + phase.share, 0);
  const folded = `${phases.length} more, ${percent(share)}`;
  const item = button(folded, folded, () => {
    const open = item.getAttribute("aria-expanded") !== "true";
    item.setAttribute("aria-expanded", String(open));
    item.textContent = open ? "Fewer phases" : folded;
    rows.forEach((row) => { row.hidden = !open; });
  });
  item.className = className;
  item.setAttribute("aria-expanded", "false");
  rows.forEach((row) => { row.hidden = true; });
  return item;
}

/**
 * Idle has a colour too, but nothing to click.
 * @param {App} app
 */
function idleRow({ data: { meta, label, duration } }) {
  const weights = meta.labels.map(({ weight }) => weight);
  const busy = duration.reduce((sum, time, i) => sum + time * weights[label[i]], 0);
  const idle = Math.max(1 - busy / (meta.rows.length * (meta.end - meta.begin)), 0);
  const row = document.createElement("li");
  row.className = "legend-idle";
  const swatch = document.createElement("span");
  swatch.className = "swatch";
  const part = document.createElement("span");
  part.className = "legend-share";
  part.textContent = `${percent(idle)} of all`;
  row.append(swatch, "Idle or MPI", part);
  row.title = "Between bursts: waiting, communication, or what the trace does not tell";
  return row;
}

/** @param {App} app */
export function makeLegend(app) {
  const { state } = app;
  const { labels, phases } = app.data.meta;
  const list = byId("legend");
  const share = new Map(phases.map((phase) => [phase.label, phase.share]));
  const small = phases.filter((phase) => phase.small);
  /** @type {HTMLElement[]} */
  const rows = [];
  const items = labels.map((label, l) => {
    const item = document.createElement("button");
    item.type = "button";
    item.className = "legend-item";
    item.dataset.label = String(l);
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    const name = document.createElement("span");
    name.className = "legend-name";
    name.textContent = label.name;
    const part = document.createElement("span");
    part.className = "legend-share";
    part.textContent = share.has(l) ? percent(share.get(l) ?? 0) : "";
    item.append(swatch, name, part);
    if (label.folded) item.title = `${label.name}: small phases beyond the twentieth share a colour`;
    swatch.classList.toggle("outlined", label.kind === "filtered");

    item.addEventListener("click", (event) => (event.altKey ? isolate(l) : toggle(l)));
    // The two clicks before have cancelled each other.
    item.addEventListener("dblclick", () => isolate(l));
    item.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && state.shown[l] && app.highlight(l));
    item.addEventListener("pointerleave", () => app.highlight(-1));
    const row = document.createElement("li");
    row.append(item);
    list.append(row);
    rows.push(row);
    return { item, swatch };
  });
  if (small.length) {
    const folded = small.map((phase) => rows[phase.label]);
    const more = document.createElement("li");
    more.append(foldButton(small, folded, "legend-item legend-more"));
    folded.at(-1)?.after(more);
  }

  list.append(idleRow(app));

  /** @param {(label: number) => boolean} which */
  const show = (which) => {
    labels.forEach((_, l) => { state.shown[l] = which(l) ? 1 : 0; });
    app.selection.fillByLabel(state.shown);
    app.update();
  };
  /** @param {number} l */
  const toggle = (l) => {
    state.shown[l] ^= 1;
    state.highlight = -1;
    app.selection.fillByLabel(state.shown);
    app.update();
  };
  /** @param {number} l */
  const isolate = (l) => {
    const alone = state.shown.every((shown, k) => Boolean(shown) === (k === l));
    if (alone) showFirst();
    else show((k) => k === l);
  };
  const showFirst = () => {
    const first = app.firstShown();
    show((l) => first[l] === 1);
  };
  byId("legend-all").addEventListener("click", showFirst);
  byId("legend-none").addEventListener("click", () => show(() => false));

  return {
    refresh() {
      items.forEach(({ item, swatch }, l) => {
        item.setAttribute("aria-pressed", String(Boolean(state.shown[l])));
        item.classList.toggle("pinned", state.pinned === l);
        swatch.style.background = app.colour(l);
      });
    },
  };
}
