// What the pictures share: axes, their lines and texts, and the mouse, keys
// and buttons that move them.

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
  return { text: get("--text"), muted: get("--muted"), grid: get("--grid"), line: get("--line"), plot: get("--plot"), accent: get("--accent") };
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
 * A canvas that is never shown, to compose pictures.
 * @param {number} width
 * @param {number} height
 */
export function hiddenCanvas(width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  return canvas;
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
function clampAxis(axis) {
  const { min, max, least } = axis;
  const span = Math.min(Math.max(axis.hi - axis.lo, least), max - min);
  const middle = (axis.lo + axis.hi) / 2;
  axis.lo = Math.min(Math.max(middle - span / 2, min), max - span);
  axis.hi = axis.lo + span;
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
function panAxis(axis, share) {
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
 * Mouse, touch and keys of a picture with `area`, axes `x` and `y` (an axis
 * may grow downwards), `changed()`, `reset()`, `hover(x, y)` and `leave()`.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
export function interact(canvas, picture) {
  /** @type {{ from: number[], last: number[], box: boolean } | null} */
  let drag = null;
  /** @param {MouseEvent} event */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left - picture.area.x, event.clientY - box.top - picture.area.y];
  };
  /** @param {number[]} place */
  const shares = ([x, y]) => {
    const [sx, sy] = [x / picture.area.width, y / picture.area.height].map((s) => Math.min(Math.max(s, 0), 1));
    return [sx, picture.y.down ? sy : 1 - sy];
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = place(event);
    const [sx, sy] = shares(at);
    // Shift turns the wheel sideways in some browsers.
    const delta = event.deltaY || event.deltaX;
    const factor = Math.exp(Math.max(-120, Math.min(120, delta * (event.deltaMode ? 30 : 1))) * 0.002);
    const [zoomX, zoomY] = picture.wheel(event, at);
    if (zoomX) zoomAxis(picture.x, factor, sx);
    if (zoomY) zoomAxis(picture.y, factor, sy);
    picture.leave();
    picture.changed();
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { from: place(event), last: place(event), box: event.shiftKey };
    picture.leave();
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!drag) return picture.hover(at[0], at[1], event);
    if (drag.box) {
      picture.box = [...drag.from, ...at];
    } else {
      panAxis(picture.x, (drag.last[0] - at[0]) / picture.area.width);
      panAxis(picture.y, ((picture.y.down ? 1 : -1) * (drag.last[1] - at[1])) / picture.area.height);
      drag.last = at;
    }
    picture.changed();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag?.box) {
      const [a, b] = [shares(drag.from), shares(place(event))];
      const far = Math.hypot(drag.from[0] - place(event)[0], drag.from[1] - place(event)[1]) > 5;
      const axes = far ? [picture.x, picture.y] : [];
      for (const [k, axis] of axes.entries()) {
        const [s, t] = [Math.min(a[k], b[k]), Math.max(a[k], b[k])];
        [axis.lo, axis.hi] = [fromPixel(axis, s, 1), fromPixel(axis, t, 1)];
        clampAxis(axis);
      }
      picture.box = null;
      picture.changed();
    }
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => { drag = picture.box = null; });
  canvas.addEventListener("pointerleave", () => picture.leave());
  canvas.addEventListener("dblclick", () => picture.reset());
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keyActions(picture)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/**
 * @param {Picture} picture
 * @returns {Record<string, () => void>}
 */
function keyActions(picture) {
  const up = picture.y.down ? -0.1 : 0.1;
  /**
   * @param {Axis} axis
   * @param {number} share
   */
  const pan = (axis, share) => () => { panAxis(axis, share); picture.changed(); };
  /** @param {number} factor */
  const zoom = (factor) => () => {
    zoomAxis(picture.x, factor, 0.5);
    if (picture.zoomBoth) zoomAxis(picture.y, factor, 0.5);
    picture.changed();
  };
  return {
    ArrowLeft: pan(picture.x, -0.1),
    ArrowRight: pan(picture.x, 0.1),
    ArrowUp: pan(picture.y, up),
    ArrowDown: pan(picture.y, -up),
    "+": zoom(0.7),
    "=": zoom(0.7),
    "-": zoom(1 / 0.7),
    "0": () => picture.reset(),
    Home: () => picture.reset(),
  };
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
  element.title = title;
  element.setAttribute("aria-label", title);
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
