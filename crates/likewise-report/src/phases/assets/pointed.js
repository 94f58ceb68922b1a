// What the pointer is over in a timeline.

import { percent } from "../../assets/format.js";
import { describeBurst, describeIdle } from "./tooltip.js";
import { fromPixel } from "./view.js";

/** @import { App, Timeline, Words } from "./types" */

/**
 * The burst at a place, or the nearest within `slack` in its row; -1 is none.
 * @param {App} app
 * @param {Timeline} picture
 * @param {number} row
 * @param {number} t
 * @param {number} slack
 */
function burstAt({ data, selection }, picture, row, t, slack) {
  const { begin, duration, rowStart } = data;
  const { firstAt } = picture.drawn().shares;
  let [best, found] = [slack, -1];
  for (let i = firstAt(row, t - slack); i < rowStart[row + 1] && begin[i] <= t + slack; i++) {
    const away = Math.max(begin[i] - t, t - begin[i] - duration[i], 0);
    if (selection.has(i) && away <= best) [best, found] = [away, i];
    if (away === 0 && found === i) break;
  }
  return found;
}

/**
 * The greatest shares of a pixel, in words, where it holds several.
 * @param {Timeline} picture
 * @param {Words} words
 * @param {number} row
 * @param {number} rows
 * @param {number} t
 */
function sharesAt(picture, words, row, rows, t) {
  const { shares } = picture.drawn();
  const half = (picture.x.hi - picture.x.lo) / picture.area.width / 2;
  const amounts = new Float64Array(shares.nSlots);
  for (let r = row; r < row + rows; r++) shares.addRow(r, t - half, t + half, 1, amounts);
  /** @type {Map<string, number>} */
  const parts = new Map([["hidden", amounts[shares.nSlots - 1] / rows]]);
  // What stands out and what does not are two groups of one name.
  shares.groups.forEach((g, slot) => parts.set(words.nameOf(g), (parts.get(words.nameOf(g)) ?? 0) + amounts[slot] / rows));
  parts.set("idle or MPI", 1 - amounts.reduce((sum, amount) => sum + amount, 0) / rows);
  const shown = [...parts].filter((part) => part[1] >= 0.01).sort((a, b) => b[1] - a[1]);
  if (shown.length < 2) return "";
  const more = shown.length > 4 ? ", …" : "";
  return `${rows > 1 ? `${rows} rows` : "Time"} at this pixel: ${shown.slice(0, 4).map(([name, share]) => `${name} ${percent(share)}`).join(", ")}${more}. Zoom in to tell them apart.`;
}

/**
 * Marks and describes the burst at a place, or the idle time there.
 * @param {App} app
 * @param {Timeline} picture
 * @param {Words} words
 * @returns {Timeline["hover"]}
 */
export function hoverOf(app, picture, words) {
  const { rowStart, begin, duration, meta } = app.data;
  const nRows = meta.rows.length;
  return (x, y, event) => {
    const { area } = picture;
    const row = Math.floor(fromPixel(picture.y, y, area.height));
    if (x < 0 || y < 0 || x >= area.width || y >= area.height || row >= nRows) return app.point(-1);
    const t = fromPixel(picture.x, x, area.width);
    const perPixel = (picture.x.hi - picture.x.lo) / area.width;
    const rows = Math.min(Math.max(Math.round((picture.y.hi - picture.y.lo) / area.height), 1), nRows - row);
    let i = -1;
    for (let r = row; i < 0 && r < row + rows; r++) i = burstAt(app, picture, r, t, 0.5 * perPixel);
    for (let r = row; i < 0 && r < row + rows; r++) i = burstAt(app, picture, r, t, 3 * perPixel);
    app.point(i);
    if (i >= 0) return describeBurst(app, event, i, sharesAt(picture, words, row, rows, t));
    const { firstAt } = picture.drawn().shares;
    let next = firstAt(row, t);
    if (next < rowStart[row + 1] && begin[next] <= t) next++;
    const last = next - 1;
    const isHidden = last >= rowStart[row] && begin[last] + duration[last] > t;
    if (isHidden) describeBurst(app, event, last, "Its phase is hidden.");
    else describeIdle(app, event, row, next);
  };
}
