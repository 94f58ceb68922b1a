// Pictures of rows: their frame and buttons; and for the alignment, rows of
// pixels that take the colour of the label with most of something in them.

import { button, drawBottomAxis, fitText, toPixel, zoomAxis } from "./view.js";

/** @import { Axis, Grouping, PageColours, Picture, Surface } from "./types" */

/**
 * Writes to `line` which group has most in each of `W` pixels, as group + 1,
 * and empties `amount[group · W + pixel]` and `seen[group]` for the next line.
 * Of equals, the first wins. With `sum`, all of a pixel is added to it.
 * @param {Float64Array} amount
 * @param {Uint8Array} seen
 * @param {number} W
 * @param {Uint32Array} line
 * @param {Float64Array | null} sum
 */
export function takeWinners(amount, seen, W, line, sum = null) {
  const most = new Float64Array(W);
  for (let g = 0; g < seen.length; g++) {
    if (!seen[g]) continue;
    seen[g] = 0;
    for (let p = 0, q = g * W; p < W; p++, q++) {
      if (amount[q] > most[p]) {
        most[p] = amount[q];
        line[p] = g + 1;
      }
      if (sum) sum[p] += amount[q];
      amount[q] = 0;
    }
  }
}

/**
 * Winners, 0 for none, as pixels; `cover`, to 255, makes them paler.
 * @param {Uint32Array} pixels
 * @param {Uint32Array} winners
 * @param {Grouping} grouping
 * @param {Uint8Array | null} cover
 */
export function colourWinners(pixels, winners, { colours, dim }, cover = null) {
  const table = new Uint32Array(colours.length + 1);
  for (let g = 0; g < colours.length; g++) {
    table[g + 1] = (colours[g] & 0xffffff) | ((dim[g] ? 34 : 255) << 24);
  }
  for (let p = 0; p < pixels.length; p++) {
    const pixel = table[winners[p]];
    pixels[p] = cover ? (pixel & 0xffffff) | ((((pixel >>> 24) * cover[p]) / 255) << 24) : pixel;
  }
}

/**
 * The surface with its axis and frame, and names at their heights on the y axis.
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {Surface} surface
 * @param {string} unit
 * @param {[number, string][]} names
 * @param {PageColours} colours
 */
export function paintRows(context, picture, surface, unit, names, colours) {
  const { area } = picture;
  context.fillStyle = colours.plot;
  context.fillRect(area.x, area.y, area.width, area.height);
  drawBottomAxis(context, area, picture.x, unit, colours);
  surface.draw(context, area);
  context.strokeStyle = colours.line;
  context.strokeRect(area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = colours.muted;
  for (const [at, name] of names) {
    const y = area.y + toPixel(picture.y, at, area.height);
    if (y < area.y || y > area.y + area.height) continue;
    const inside = Math.min(Math.max(y, area.y + 5), area.y + area.height - 5);
    context.fillText(fitText(context, name, area.x - 8), area.x - 6, inside);
  }
}

/**
 * Buttons that zoom a picture of rows along and across.
 * @param {Picture} picture
 * @param {string} name
 * @param {string} axis
 * @returns {(string | HTMLElement)[]}
 */
export function zoomButtons(picture, name, axis) {
  /**
   * @param {Axis} axis
   * @param {number} factor
   */
  const zoom = (axis, factor) => () => {
    zoomAxis(axis, factor, 0.5);
    picture.changed();
  };
  return [
    `${name} `, button("+", `Zoom in on ${axis}`, zoom(picture.x, 0.6)), button("−", `Zoom out of ${axis}`, zoom(picture.x, 1 / 0.6)),
    " Rows ", button("+", "Zoom in on rows", zoom(picture.y, 0.6)), button("−", "Zoom out of rows", zoom(picture.y, 1 / 0.6)),
    button("Reset", "Show all", picture.reset),
  ];
}
