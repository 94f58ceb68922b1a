// Texts in the bars of the timeline that are wide enough for them.

import { inkOn } from "./look.js";
import { toPixel } from "./view.js";

/** @import { App, Grouping, Picture, Shares } from "./types" */

/** So many bursts are looked at for a text. */
const MAX_BURSTS = 60000;
const LEAST_HEIGHT = 13;
const LEAST_WIDTH = 18;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {App} app
 * @param {Picture} picture
 * @param {Shares} shares
 * @param {Grouping} grouping
 * @param {(burst: number) => string[]} textsOf texts of a burst, the longest first
 */
export function drawBarTexts(context, app, picture, shares, { of, colours, dim }, textsOf) {
  const { area, x, y } = picture;
  const { n, meta, rowStart, begin, duration } = app.data;
  const high = area.height / (y.hi - y.lo);
  if (high < LEAST_HEIGHT || (n * (x.hi - x.lo)) / (meta.end - meta.begin) > MAX_BURSTS) return;
  context.save();
  context.beginPath();
  context.rect(area.x, area.y, area.width, area.height);
  context.clip();
  context.textAlign = "left";
  context.textBaseline = "middle";
  const width = widthsOf(context);
  for (let r = Math.floor(y.lo); r < Math.min(y.hi, meta.rows.length); r++) {
    const middle = area.y + toPixel(y, r + 0.5, area.height);
    for (let i = shares.firstAt(r, x.lo); i < rowStart[r + 1] && begin[i] < x.hi; i++) {
      if (!app.selection.has(i) || dim[of[i]]) continue;
      const from = Math.max(toPixel(x, begin[i], area.width), 0);
      const to = Math.min(toPixel(x, begin[i] + duration[i], area.width), area.width);
      if (to - from < LEAST_WIDTH) continue;
      const text = textsOf(i).find((text) => width(text) <= to - from - 8);
      if (!text) continue;
      context.fillStyle = inkOn(colours[of[i]]);
      context.fillText(text, area.x + from + 4, middle);
    }
  }
  context.restore();
}

/**
 * Widths of texts, which come again and again.
 * @type {Map<string, number>}
 */
const textWidths = new Map();

/** @param {CanvasRenderingContext2D} context */
function widthsOf(context) {
  if (textWidths.size > 5000) textWidths.clear();
  /** @param {string} text */
  return (text) => {
    const before = textWidths.get(text);
    if (before !== undefined) return before;
    const { width } = context.measureText(text);
    textWidths.set(text, width);
    return width;
  };
}
