// Wheel, mouse, touch and keys of a picture. The wheel belongs to the page:
// it zooms only with Ctrl (or ⌘) held, and a hint says so.

import { clampAxis, fromPixel, panAxis, zoomAxis } from "./view.js";

/** @import { Axis, Picture } from "./types" */

/**
 * Within the area of a picture.
 * @typedef {[number, number]} Place
 */

/** A finger that moves less, in pixels, and lifts sooner, in ms, taps. */
const TAP = { far: 10, long: 600 };

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
/** The key that makes the wheel zoom. */
const ZOOM_KEY = IS_MAC ? "⌘" : "Ctrl";

/**
 * How to move a picture, for its caption.
 * @param {string} across what the wheel zooms
 * @param {boolean} hasRows
 */
export function howToMove(across, hasRows) {
  if (matchMedia("(pointer: coarse)").matches) return `Two fingers zoom${across}, one pans, a tap describes.`;
  const rows = hasRows ? ", with Shift rows" : "";
  return `${ZOOM_KEY}-wheel zooms${across}${rows}; drag pans; Shift-drag zooms to a box; double-click shows all. Keys: arrows, W A S D, +, −, 0.`;
}

/**
 * Makes a picture with `area`, axes `x` and `y` (an axis may grow downwards),
 * `changed()`, `reset()`, `hover(x, y)` and `leave()` follow the reader.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
export function interact(canvas, picture) {
  wireWheel(canvas, picture);
  wirePointers(canvas, picture);
  canvas.addEventListener("dblclick", () => picture.reset());
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keyActions(picture, event.shiftKey)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 * @param {MouseEvent} event
 * @returns {Place}
 */
function pointOf(canvas, picture, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left - picture.area.x, event.clientY - box.top - picture.area.y];
}

/**
 * A place as shares of both axes.
 * @param {Picture} picture
 * @param {Place} place
 */
function spotOf(picture, [x, y]) {
  const [sx, sy] = [x / picture.area.width, y / picture.area.height].map((s) => Math.min(Math.max(s, 0), 1));
  return [sx, picture.y.down ? sy : 1 - sy];
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
function wireWheel(canvas, picture) {
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return showHint(canvas);
    event.preventDefault();
    hideHint();
    const at = pointOf(canvas, picture, event);
    const [sx, sy] = spotOf(picture, at);
    // Shift turns the wheel sideways in some browsers.
    const delta = event.deltaY || event.deltaX;
    const factor = Math.exp(Math.max(-120, Math.min(120, delta * (event.deltaMode ? 30 : 1))) * 0.002);
    const [zoomX, zoomY] = picture.wheel(event, at);
    if (zoomX) zoomAxis(picture.x, factor, sx);
    if (zoomY) zoomAxis(picture.y, factor, sy);
    picture.leave();
    picture.changed();
  }, { passive: false });
}

/** @type {HTMLElement | null} */
let hint = null;
let hintEnds = 0;

/**
 * Says for a moment, over a picture, how to zoom.
 * @param {HTMLCanvasElement} canvas
 */
function showHint(canvas) {
  if (!hint) {
    hint = document.createElement("div");
    hint.className = "wheel-hint";
    hint.setAttribute("aria-hidden", "true");
    hint.textContent = `Hold ${ZOOM_KEY} and scroll to zoom`;
  }
  if (hint.previousElementSibling !== canvas) canvas.after(hint);
  const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = canvas;
  [hint.style.left, hint.style.top] = [`${left + width / 2}px`, `${top + height / 2}px`];
  hint.hidden = false;
  clearTimeout(hintEnds);
  hintEnds = setTimeout(hideHint, 1200);
}

function hideHint() {
  if (hint) hint.hidden = true;
}

/**
 * One pointer pans, or with Shift draws a box; two pinch; a tap describes.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
function wirePointers(canvas, picture) {
  /** @type {Map<number, Place>} */
  const down = new Map();
  /** @type {{ from: Place, at: number, box: boolean, tap: boolean } | null} */
  let drag = null;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = pointOf(canvas, picture, event);
    down.set(event.pointerId, at);
    const tap = event.pointerType !== "mouse" && down.size === 1;
    drag = { from: at, at: event.timeStamp, box: event.shiftKey && down.size === 1, tap };
    picture.leave();
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = pointOf(canvas, picture, event);
    const last = down.get(event.pointerId);
    if (!last || !drag) {
      if (event.pointerType === "mouse") picture.hover(at[0], at[1], event);
      return;
    }
    if (drag.tap && Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) < TAP.far) return;
    drag.tap = false;
    if (drag.box) picture.box = [...drag.from, ...at];
    else if (down.size === 2) pinch(picture, [...down].filter(([id]) => id !== event.pointerId)[0][1], last, at);
    else pan(picture, last, at);
    down.set(event.pointerId, at);
    picture.changed();
  });
  canvas.addEventListener("pointerup", (event) => {
    const at = pointOf(canvas, picture, event);
    down.delete(event.pointerId);
    if (drag?.box) zoomToBox(picture, drag.from, at);
    else if (drag?.tap && event.timeStamp - drag.at < TAP.long) picture.hover(at[0], at[1], event);
    if (down.size === 0) drag = null;
  });
  canvas.addEventListener("pointercancel", (event) => {
    down.delete(event.pointerId);
    drag = picture.box = null;
  });
  // A finger that lifts leaves too; what a tap has brought stays.
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && picture.leave());
}

/**
 * @param {Picture} picture
 * @param {Place} from
 * @param {Place} to
 */
function pan(picture, from, to) {
  panAxis(picture.x, (from[0] - to[0]) / picture.area.width);
  panAxis(picture.y, ((picture.y.down ? 1 : -1) * (from[1] - to[1])) / picture.area.height);
}

/**
 * Two fingers, of which one moves: what was between them stays so.
 * @param {Picture} picture
 * @param {Place} still
 * @param {Place} from
 * @param {Place} to
 */
function pinch(picture, still, from, to) {
  /** @param {Place} at */
  const apart = (at) => Math.max(Math.hypot(at[0] - still[0], at[1] - still[1]), 20);
  const [sx, sy] = spotOf(picture, still);
  const factor = apart(from) / apart(to);
  zoomAxis(picture.x, factor, sx);
  if (picture.zoomBoth) zoomAxis(picture.y, factor, sy);
}

/**
 * @param {Picture} picture
 * @param {Place} from
 * @param {Place} to
 */
function zoomToBox(picture, from, to) {
  const [a, b] = [spotOf(picture, from), spotOf(picture, to)];
  const far = Math.hypot(from[0] - to[0], from[1] - to[1]) > 5;
  const axes = far ? [picture.x, picture.y] : [];
  for (const [k, axis] of axes.entries()) {
    const [s, t] = [Math.min(a[k], b[k]), Math.max(a[k], b[k])];
    [axis.lo, axis.hi] = [fromPixel(axis, s, 1), fromPixel(axis, t, 1)];
    clampAxis(axis);
  }
  picture.box = null;
  picture.changed();
}

/**
 * Arrows and A, D move, +, − and W, S zoom; with Shift, W and S zoom the rows
 * of a picture that has rows.
 * @param {Picture} picture
 * @param {boolean} shift
 * @returns {Record<string, () => void>}
 */
function keyActions(picture, shift) {
  const up = picture.y.down ? -0.1 : 0.1;
  /**
   * @param {Axis} axis
   * @param {number} share
   */
  const move = (axis, share) => () => { panAxis(axis, share); picture.changed(); };
  /**
   * @param {number} factor
   * @param {boolean} rows
   */
  const zoom = (factor, rows = false) => () => {
    if (!rows) zoomAxis(picture.x, factor, 0.5);
    if (rows || picture.zoomBoth) zoomAxis(picture.y, factor, 0.5);
    picture.changed();
  };
  const [closer, farther] = [zoom(0.7), zoom(1 / 0.7)];
  const rows = shift && !picture.zoomBoth;
  const [left, right] = [move(picture.x, -0.1), move(picture.x, 0.1)];
  return {
    ArrowLeft: left,
    a: left,
    ArrowRight: right,
    d: right,
    ArrowUp: move(picture.y, up),
    ArrowDown: move(picture.y, -up),
    "+": closer,
    "=": closer,
    w: zoom(0.7, rows),
    "-": farther,
    s: zoom(1 / 0.7, rows),
    0: () => picture.reset(),
    Home: () => picture.reset(),
  };
}
