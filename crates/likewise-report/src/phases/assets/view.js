// What the pictures share: axes, their lines and texts, and buttons.

import { contextOf } from "../../assets/dom.js";
import { ticks } from "../../assets/format.js";

/** @import { Area, Axis, PageColours, Picture, Range } from "./types" */

const FONT = '11.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/**
 * Colours of the page, for canvases.
 * @returns {PageColours}
 */
export function pageColours() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const get = (name) => style.getPropertyValue(name).trim();
  return { text: get("--text"), muted: get("--muted"), grid: get("--grid"), line: get("--line"), plot: get("--plot"), idle: get("--idle"), accent: get("--accent") };
}

/** @param {string} hex */
function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/**
 * Colours as the bytes of an image, red lowest.
 * @param {string[]} list
 */
export function pixelColours(list) {
  return Uint32Array.from(list, (hex) => {
    const [r, g, b] = rgb(hex);
    return r | (g << 8) | (b << 16);
  });
}

/**
 * Fits the bitmap to the element; returns its context and size in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 */
export function prepare(canvas) {
  const ratio = Math.min(Math.max(window.devicePixelRatio || 1, 1), 2);
  const width = Math.max(canvas.clientWidth, 50);
  const height = Math.max(canvas.clientHeight, 50);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  return { context, width, height, ratio };
}

/**
 * @param {Range} axis
 * @param {number} at
 * @param {number} size
 */
export const toPixel = (axis, at, size) => ((at - axis.lo) / (axis.hi - axis.lo)) * size;
/**
 * @param {Range} axis
 * @param {number} pixel
 * @param {number} size
 */
export const fromPixel = (axis, pixel, size) => axis.lo + (pixel / size) * (axis.hi - axis.lo);

/**
 * Keeps an axis within its limits, with a span that still makes sense.
 * @param {Axis} axis
 */
export function clampAxis(axis) {
  const { min, max, least } = axis;
  const span = Math.min(Math.max(axis.hi - axis.lo, least), max - min);
  const middle = (axis.lo + axis.hi) / 2;
  axis.lo = Math.max(Math.min(middle - span / 2, max - span), min);
  axis.hi = Math.min(axis.lo + span, max);
}

/**
 * @param {Axis} axis
 * @param {number} factor
 * @param {number} share
 */
export function zoomAxis(axis, factor, share) {
  const at = axis.lo + share * (axis.hi - axis.lo);
  axis.lo = at - (at - axis.lo) * factor;
  axis.hi = at + (axis.hi - at) * factor;
  clampAxis(axis);
}

/**
 * @param {Axis} axis
 * @param {number} share
 */
export function panAxis(axis, share) {
  const by = share * (axis.hi - axis.lo);
  axis.lo += by;
  axis.hi += by;
  clampAxis(axis);
}

/**
 * Grid lines and texts of the horizontal axis below `area`.
 * @param {CanvasRenderingContext2D} context
 * @param {Area} area
 * @param {Range} axis
 * @param {string} unit
 * @param {PageColours} colours
 */
export function drawBottomAxis(context, area, axis, unit, colours, grid = true) {
  const marks = ticks(axis, unit, area.width / 95);
  context.textAlign = "center";
  context.textBaseline = "top";
  let free = -Infinity;
  for (const { at, text } of marks) {
    const x = area.x + toPixel(axis, at, area.width);
    context.fillStyle = colours.grid;
    if (grid) context.fillRect(Math.round(x), area.y, 1, area.height);
    context.fillStyle = colours.line;
    context.fillRect(Math.round(x), area.y + area.height, 1, 4);
    const half = context.measureText(text).width / 2;
    const centre = Math.min(Math.max(x, area.x + half - 20), area.x + area.width - half + 8);
    if (centre - half < free) continue;
    free = centre + half + 8;
    context.fillStyle = colours.muted;
    context.fillText(text, centre, area.y + area.height + 7);
  }
}

/**
 * Grid lines and texts of the vertical axis left of `area`, upwards.
 * @param {CanvasRenderingContext2D} context
 * @param {Area} area
 * @param {Range} axis
 * @param {{ at: number, text: string }[]} marks
 * @param {PageColours} colours
 */
export function drawLeftAxis(context, area, axis, marks, colours) {
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { at, text } of marks) {
    const y = area.y + area.height - toPixel(axis, at, area.height);
    context.fillStyle = colours.grid;
    context.fillRect(area.x, Math.round(y), area.width, 1);
    context.fillStyle = colours.muted;
    context.fillText(text, area.x - 7, y);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} texts
 */
export function widest(context, texts) {
  return texts.reduce((width, text) => Math.max(width, context.measureText(text).width), 0);
}

/**
 * Text cut with an ellipsis to fit.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} width
 */
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let end = Math.min(text.length, 200);
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}

/**
 * @param {string} text
 * @param {string} title
 * @param {(event: MouseEvent) => void} action
 */
export function button(text, title, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "control";
  element.textContent = text;
  if (title !== text) element.title = title;
  // The name begins with what stands there, for who speaks to the machine.
  if (text.length < 3) element.setAttribute("aria-label", `${text} ${title}`);
  element.addEventListener("click", action);
  return element;
}

/**
 * The rectangle that Shift-drag draws.
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {PageColours} colours
 */
export function drawBox(context, picture, colours) {
  if (!picture.box) return;
  const [x0, y0, x1, y1] = picture.box;
  context.strokeStyle = colours.accent;
  context.setLineDash([4, 3]);
  context.strokeRect(picture.area.x + x0 + 0.5, picture.area.y + y0 + 0.5, x1 - x0, y1 - y0);
  context.setLineDash([]);
}
