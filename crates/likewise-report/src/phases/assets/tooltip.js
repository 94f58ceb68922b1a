// The box that describes what is under the pointer.

import { byId } from "../../assets/dom.js";
import { count, moment, quantity } from "../../assets/format.js";
import { metricValue, rowOf } from "./data.js";
import { placeOfBurst, rowName } from "./words.js";

/** @import { App } from "./types" */

/**
 * @param {MouseEvent} event
 * @param {string} heading
 * @param {string} colour
 * @param {[string, string][]} pairs
 * @param {string} [aside]
 */
export function showTooltip(event, heading, colour, pairs, aside) {
  const box = byId("tooltip");
  box.replaceChildren();
  const head = document.createElement("p");
  head.className = "tooltip-head";
  if (colour) {
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = colour;
    head.append(swatch);
  }
  head.append(heading);
  const list = document.createElement("dl");
  fillPairs(list, pairs);
  box.append(head, list);
  if (aside) {
    const note = document.createElement("p");
    note.className = "tooltip-note";
    note.textContent = aside;
    box.append(note);
  }
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const room = [document.documentElement.clientWidth, window.innerHeight];
  const x = event.clientX + 14 + width > room[0] ? event.clientX - 14 - width : event.clientX + 14;
  const y = event.clientY + 14 + height > room[1] ? event.clientY - 14 - height : event.clientY + 14;
  box.style.left = `${Math.max(4, Math.min(x, room[0] - width - 4))}px`;
  box.style.top = `${Math.max(4, y)}px`;
}

export function hideTooltip() {
  byId("tooltip").hidden = true;
}

/**
 * @param {HTMLElement} list
 * @param {[string, string][]} pairs
 */
export function fillPairs(list, pairs) {
  for (const [name, value] of pairs) {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    list.append(term, text);
  }
}

/**
 * Describes burst `i` beside the pointer.
 * @param {App} app
 * @param {MouseEvent} event
 * @param {number} i
 * @param {string} [aside]
 */
export function describeBurst(app, event, i, aside) {
  const { data, state } = app;
  const { meta } = data;
  const label = data.label[i];
  /** @type {[string, string][]} */
  const pairs = [
    ["begin", (meta.tick > 1 ? "≈ " : "") + moment(data.begin[i], meta.tick)],
  ];
  if (data.tree && state.level >= 0) {
    const { codes, members } = data.tree.levels[state.level];
    const rank = app.rank(state.level, members[codes[i]] - 1);
    pairs.push([`at level ${state.level + 1}`, rank < 0 ? "in no node" : `node ${count(rank + 1)} by time`]);
  }
  const axes = [state.xMetric, state.yMetric];
  const metrics = data.metrics.filter((metric) => metric.values !== data.begin);
  for (const metric of metrics.toSorted((a, b) => Number(axes.includes(b)) - Number(axes.includes(a))).slice(0, 10)) {
    const exact = metric.values && !metric.rounded;
    const value = metricValue(metric, i);
    pairs.push([metric.name, (exact || Number.isNaN(value) ? "" : "≈ ") + quantity(value, metric.unit)]);
  }
  const place = placeOfBurst(data, i);
  const parts = [rowName(meta.rows[rowOf(data, i)]), meta.labels[label].name.toLowerCase(), place, quantity(data.duration[i], "ns")];
  showTooltip(event, parts.filter(Boolean).join(" · "), app.colour(label), pairs, aside);
}

/**
 * Describes the time of a row before burst `next`, the first that begins later.
 * @param {App} app
 * @param {MouseEvent} event
 * @param {number} row
 * @param {number} next
 */
export function describeIdle(app, event, row, next) {
  const { meta, begin, duration, rowStart } = app.data;
  const from = next > rowStart[row] ? begin[next - 1] + duration[next - 1] : meta.begin;
  const to = next < rowStart[row + 1] ? begin[next] : meta.end;
  const isWhole = meta.labels.every(({ weight }) => weight === 1);
  const heading = [rowName(meta.rows[row]), isWhole ? "idle or MPI" : "idle, MPI, or a burst that this page leaves out", quantity(Math.max(to - from, 0), "ns")].join(" · ");
  showTooltip(event, heading, app.page.idle, [["from", moment(from, meta.tick)], ["to", moment(to, meta.tick)]]);
}
