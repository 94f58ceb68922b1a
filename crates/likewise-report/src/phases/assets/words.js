// What bursts, rows and colours are called.

import { quantity } from "../../assets/format.js";

/** @import { App, Data, Functions, Words } from "./types" */

/**
 * A row of the timeline: `task 6`, `thread 1.2`.
 * @param {string} name
 */
export function rowName(name) {
  if (/^\d+$/.test(name)) return `task ${name}`;
  return /^\d+(\.\d+)+$/.test(name) ? `thread ${name}` : name;
}

/**
 * Where burst `i` is in the source: `solve (solver.f90:120)`; nothing where the trace does not tell.
 * @param {Data} data
 * @param {number} i
 */
export function placeOfBurst({ functions }, i) {
  if (!functions) return "";
  const name = functions.places[functions.place[i]];
  return name && !functions.traced ? `until ${name}` : name;
}

/**
 * Texts of a burst's bar, the longest first.
 * @param {Data} data
 * @param {number} i
 * @param {string} name
 * @param {string} full the name with all that is known
 */
function barTexts(data, i, name, full) {
  const lasts = quantity(data.duration[i], "ns");
  return [`${full} · ${lasts}`, `${name} · ${lasts}`, name];
}

/**
 * Of a timeline by phase, or by a node or level of the tree.
 * @param {App} app
 * @returns {Words}
 */
export function phaseWords({ data, state }) {
  const { labels } = data.meta;
  const short = labels.map(({ name, kind }) => (kind === "phase" ? name.replace(/^\D+/, "") : ""));
  return {
    colours: "phase",
    nameOf: (group) => {
      if (state.level < 0) return labels[group].name;
      return state.node < 0 ? `colour ${(group >> 1) + 1}` : labels[group >> 1].name;
    },
    textsOf: (i) => {
      const { name } = labels[data.label[i]];
      const place = placeOfBurst(data, i);
      return [...barTexts(data, i, name, place ? `${name} · ${place}` : name), short[data.label[i]]];
    },
  };
}

/**
 * Of a timeline by function.
 * @param {App} app
 * @param {Functions} functions
 * @returns {Words}
 */
export function functionWords({ data }, functions) {
  return {
    colours: functions.traced ? "function" : "function of the call that ends a burst",
    nameOf: (group) => functions.list[group >> 1].name,
    textsOf: (i) => {
      const { name } = functions.list[functions.codes[i]];
      return barTexts(data, i, name, functions.places[functions.place[i]] || name);
    },
  };
}
