// Lines of the timeline as pixels. In each column of a line the groups are
// stacked, each as high as its share of the time; idle is what is left above.
// Where a height is no whole number of pixels it is rounded up in as many
// columns as its fraction says, so that over some columns all shares hold,
// also where a line is one pixel high.

/** @import { Look, Shares, View } from "./types" */

/** Fractions of multiples of this are spread evenly. */
const GOLDEN = 0.6180339887498949;
/** And those of multiples of this from one line to the next. */
const PLASTIC = 0.7548776662466927;

/**
 * How many rows share a line, a power of two: lines are two pixels high at
 * least.
 * @param {number} rowsPerPixel
 * @param {number} nRows
 */
function rowsOfLine(rowsPerPixel, nRows) {
  let rows = 1;
  while (rows < 2 * rowsPerPixel && rows < nRows) rows *= 2;
  return rows;
}

/**
 * Draws what is in `view` to `W` × `H` pixels, with `gap` pixels between rows
 * where they are high enough.
 * @param {Shares} shares
 * @param {View} view
 * @param {number} nRows
 * @param {Look} look
 * @param {Uint32Array} pixels
 * @param {number} W
 * @param {number} H
 * @param {number} gap
 */
export function drawLines(shares, { x, y }, nRows, look, pixels, W, H, gap) {
  const rowsPerPixel = (y.hi - y.lo) / H;
  const rows = rowsOfLine(rowsPerPixel, nRows);
  const { amounts, fill } = shares.view(rows, x.lo, x.hi, W);
  const between = 1 / rowsPerPixel >= 6 * gap ? gap : 0;
  const spread = spreadOf(W, Math.round((x.lo / (x.hi - x.lo)) * W));
  pixels.fill(look.blank);
  const end = Math.min(y.hi, nRows);
  for (let line = Math.floor(y.lo / rows); line * rows < end; line++) {
    const last = Math.min((line + 1) * rows, nRows);
    const top = Math.round((line * rows - y.lo) / rowsPerPixel);
    const bottom = Math.round((last - y.lo) / rowsPerPixel) - between;
    if (bottom <= 0 || bottom <= top) continue;
    pixels.fill(look.idle, Math.max(top, 0) * W, Math.min(bottom, H) * W);
    fill(line);
    const scale = (bottom - top) / (last - line * rows);
    stackLine(amounts, shares.nSlots, look, spread, line, scale, bottom, Math.max(top, 0), pixels, W, H);
  }
}

/**
 * Where each column starts within a pixel: fractions that are spread evenly.
 * @param {number} W
 * @param {number} first the first column, counted from the start of the run, so that a picture that moves does not flicker
 */
function spreadOf(W, first) {
  return Float64Array.from({ length: W }, (_, x) => ((first + x) * GOLDEN) % 1);
}

/**
 * Stacks the groups of a line, `scale` pixels high for each pixel of time.
 * @param {Float32Array} amounts
 * @param {number} nSlots
 * @param {Look} look
 * @param {Float64Array} spread
 * @param {number} line
 * @param {number} scale
 * @param {number} bottom
 * @param {number} top
 * @param {Uint32Array} pixels
 * @param {number} W
 * @param {number} H
 */
function stackLine(amounts, nSlots, { order, colours, lit }, spread, line, scale, bottom, top, pixels, W, H) {
  const shift = (line * PLASTIC) % 1;
  const most = bottom - top;
  const hidden = Math.max(bottom - H, 0);
  for (let x = 0; x < W; x++) {
    let height = spread[x] + shift;
    if (height >= 1) height--;
    let done = 0;
    for (let k = 0; k < nSlots; k++) {
      const slot = order[k];
      const amount = amounts[x * nSlots + slot];
      if (amount <= 0) continue;
      height += amount * scale;
      if (lit[slot] && height < done + 1) height++;
      const to = height < most ? height | 0 : most;
      if (to <= done) continue;
      const colour = colours[slot];
      for (let y = Math.max(done, hidden); y < to; y++) pixels[(bottom - 1 - y) * W + x] = colour;
      done = to;
    }
  }
}
