// Lines of the timeline as pixels. In each column of a line the groups are
// stacked, each as high as its share of the time; idle is what is left above.
// Where a height is no whole number of pixels it is rounded up in as many
// columns as its fraction says, so that over some columns all shares hold,
// also where a line is one pixel high.

/** @import { Look, Shares, View } from "./types" */

/** Fractions of multiples of this are spread evenly. */
const GOLDEN = 0.6180339887498949;

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
  const column = makeColumns(W, Math.round((x.lo / (x.hi - x.lo)) * W));
  pixels.fill(look.blank);
  const end = Math.min(y.hi, nRows);
  for (let line = Math.floor(y.lo / rows); line * rows < end; line++) {
    const last = Math.min((line + 1) * rows, nRows);
    const top = Math.round((line * rows - y.lo) / rowsPerPixel);
    const bottom = Math.round((last - y.lo) / rowsPerPixel) - between;
    if (bottom <= 0 || bottom <= top) continue;
    pixels.fill(look.idle, Math.max(top, 0) * W, Math.min(bottom, H) * W);
    fill(line);
    column.start(line);
    const scale = (bottom - top) / (last - line * rows);
    for (const slot of look.order) {
      column.add(amounts, slot, scale, bottom, Math.max(top, 0), H, look.colours[slot], look.lit[slot], pixels);
    }
  }
}

/**
 * The columns of a line while groups are stacked in them.
 * @param {number} W
 * @param {number} first the pixel of the first column, counted from the start of the run, so that a picture that moves does not flicker
 */
function makeColumns(W, first) {
  const spread = new Float32Array(W);
  for (let x = 0; x < W; x++) spread[x] = ((first + x) * GOLDEN) % 1;
  const height = new Float32Array(W);
  const done = new Int32Array(W);
  return {
    /** @param {number} line */
    start(line) {
      const shift = (line * 0.7548776662466927) % 1;
      for (let x = 0; x < W; x++) {
        const at = spread[x] + shift;
        height[x] = at < 1 ? at : at - 1;
      }
      done.fill(0);
    },
    /**
     * @param {Float32Array} amounts
     * @param {number} slot
     * @param {number} scale pixels of height for one pixel of time
     * @param {number} bottom
     * @param {number} top
     * @param {number} H
     * @param {number} colour
     * @param {number} lit 1 where the group has a pixel at least
     * @param {Uint32Array} pixels
     */
    add(amounts, slot, scale, bottom, top, H, colour, lit, pixels) {
      const most = bottom - top;
      for (let x = 0, q = slot * W; x < W; x++, q++) {
        const amount = amounts[q];
        if (amount <= 0) continue;
        height[x] += amount * scale;
        let to = height[x] | 0;
        const from = done[x];
        if (lit && to === from) {
          to++;
          height[x]++;
        }
        if (to <= from) continue;
        if (to > most) to = most;
        done[x] = to;
        for (let y = bottom - 1 - from; y >= bottom - to; y--) if (y < H) pixels[y * W + x] = colour;
      }
    },
  };
}
