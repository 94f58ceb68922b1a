// What the reader chose stands in the address: the phase that is kept, what is
// hidden, axes, and what the timeline shows.

import { readHash, writeHash } from "../../assets/hash.js";
import { byId } from "../../assets/dom.js";

/** @import { App, Axis, Scatter, Timeline } from "./types" */

/**
 * The range of an axis as two numbers, if it is not all of it.
 * @param {Axis} axis
 */
function rangeText(axis) {
  const slack = 1e-9 * (axis.max - axis.min);
  if (axis.lo <= axis.min + slack && axis.hi >= axis.max - slack) return null;
  return [axis.lo, axis.hi].map((at) => Number(at.toPrecision(7))).join();
}

/**
 * @param {Axis} axis
 * @param {string | null} text
 */
function takeRange(axis, text) {
  const [lo, hi] = (text ?? "").split(",").map(Number);
  if (lo < hi && lo >= axis.min && hi <= axis.max) [axis.lo, axis.hi] = [lo, hi];
}

/** Label names without blanks, for an address. @param {string} name */
const labelKey = (name) => name.replace(/^Phase /, "").replaceAll(" ", "-").toLowerCase();

/**
 * Takes over what the address says, where it fits this report.
 * @param {App} app
 * @param {{ scatter: Scatter, timeline: Timeline }} pictures
 */
export function takeChoices(app, { scatter, timeline }) {
  const { state, data } = app;
  const hash = readHash();
  const names = data.meta.labels.map((label) => labelKey(label.name));
  state.pinned = names.indexOf(hash.get("phase") ?? "");
  const hidden = hash.get("hidden")?.split(",");
  if (hidden) {
    names.forEach((name, l) => { state.shown[l] = hidden.includes(name) ? 0 : 1; });
    app.selection.fillByLabel(state.shown);
  }
  for (const axis of ["x", "y"]) {
    const select = byId(`scatter-${axis}`, HTMLSelectElement);
    const at = data.metrics.findIndex((metric) => metric.name === hash.get(axis));
    if (at < 0) continue;
    select.selectedIndex = at;
    select.dispatchEvent(new Event("change"));
  }
  if (hidden) scatter.reset();
  takeRange(timeline.x, hash.get("time"));
  takeRange(timeline.y, hash.get("rows"));
}

/**
 * Writes the choices into the address, a moment after the last of them.
 * @param {App} app
 * @param {{ scatter: Scatter, timeline: Timeline }} pictures
 */
export function keepChoices(app, { timeline }) {
  const { state, data } = app;
  const { labels } = data.meta;
  const first = { x: state.xMetric.name, y: state.yMetric.name, shown: app.firstShown().join() };
  const write = () => {
    const hidden = labels.filter((_, l) => !state.shown[l]).map((label) => labelKey(label.name));
    writeHash({
      phase: state.pinned < 0 ? null : labelKey(labels[state.pinned].name),
      hidden: state.shown.join() === first.shown ? null : hidden.join(),
      x: state.xMetric.name === first.x ? null : state.xMetric.name,
      y: state.yMetric.name === first.y ? null : state.yMetric.name,
      time: rangeText(timeline.x),
      rows: rangeText(timeline.y),
    });
  };
  let asked = 0;
  app.kept = () => {
    clearTimeout(asked);
    asked = setTimeout(write, 250);
  };
}
