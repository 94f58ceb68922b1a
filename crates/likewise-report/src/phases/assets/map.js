// The whole run above a timeline, with the part of it that is shown: a strip
// that a drag moves, or, while all is shown, picks a part of.

import { byId } from "../../assets/dom.js";
import { drawLines } from "./stack.js";
import { makeSurface } from "./surface.js";
import { clampAxis, prepare } from "./view.js";

/** @import { App, Drawn, Timeline } from "./types" */

/**
 * @param {App} app
 * @param {Timeline} timeline
 * @returns {Drawn}
 */
export function makeMap(app, timeline) {
  const canvas = byId("timeline-map", HTMLCanvasElement);
  const surface = makeSurface();
  const { x, y } = timeline;
  const whole = { x: { lo: x.min, hi: x.max }, y: { lo: y.min, hi: y.max } };
  /** What the surface was drawn for. */
  let made = "";
  /** @type {Drawn} */
  const map = { canvas, area: { x: 0, y: 1, width: 1, height: 1 }, render() {}, paint };

  function paint() {
    const { context, width, height, ratio } = prepare(canvas);
    map.area = { x: timeline.area.x, y: 1, width: timeline.area.width, height: height - 2 };
    const [W, H] = [map.area.width, map.area.height].map((size) => Math.max(Math.round(size * ratio), 1));
    const { shares, look, made: of } = timeline.drawn();
    const wanted = `${W} ${H} ${of}`;
    if (wanted !== made) {
      made = wanted;
      const pixels = surface.resize(W, H);
      drawLines(shares, whole, app.data.meta.rows.length, look, pixels, W, H, 0);
      surface.show();
    }
    surface.draw(context, map.area);
    drawWindow(context, width);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   */
  const drawWindow = (context, width) => {
    const { area } = map;
    const [left, right] = [x.lo, x.hi].map((at) => area.x + ((at - x.min) / (x.max - x.min)) * area.width);
    const [top, bottom] = [y.lo, y.hi].map((at) => area.y + ((at - y.min) / (y.max - y.min)) * area.height);
    context.globalAlpha = 0.62;
    context.fillStyle = app.page.plot;
    context.fillRect(area.x, area.y, left - area.x, area.height);
    context.fillRect(right, area.y, area.x + area.width - right, area.height);
    context.fillRect(left, area.y, right - left, top - area.y);
    context.fillRect(left, bottom, right - left, area.y + area.height - bottom);
    context.globalAlpha = 1;
    context.strokeStyle = app.page.text;
    context.lineWidth = 1.5;
    // Never too thin to be seen, or to be caught.
    const middle = (left + right) / 2;
    const half = Math.max((right - left) / 2, 2);
    const far = Math.min(middle + half, width - 1);
    context.strokeRect(Math.max(middle - half, 1), top, far - Math.max(middle - half, 1), Math.max(bottom - top, 2));
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = app.page.muted;
    context.fillText("run", area.x - 6, area.y + area.height / 2);
  };

  wireMap(canvas, map, timeline);
  return map;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Drawn} map
 * @param {Timeline} timeline
 */
function wireMap(canvas, map, timeline) {
  const { x, y } = timeline;
  /** Where a drag began, as time and row, and whether it picks a part. */
  /** @type {{ t: number, r: number, picks: boolean } | null} */
  let drag = null;
  /** @param {PointerEvent} event */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const across = Math.min(Math.max((event.clientX - box.left - map.area.x) / map.area.width, 0), 1);
    const down = Math.min(Math.max((event.clientY - box.top - map.area.y) / map.area.height, 0), 1);
    return { t: x.min + across * (x.max - x.min), r: y.min + down * (y.max - y.min) };
  };
  /**
   * @param {number} t
   * @param {number} r
   */
  const move = (t, r) => {
    [x.lo, x.hi] = [x.lo + t, x.hi + t];
    [y.lo, y.hi] = [y.lo + r, y.hi + r];
    clampAxis(x);
    clampAxis(y);
    timeline.changed();
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = place(event);
    drag = { ...at, picks: x.hi - x.lo > 0.999 * (x.max - x.min) };
    const inside = at.t >= x.lo && at.t <= x.hi && at.r >= y.lo && at.r <= y.hi;
    if (!inside) move(at.t - (x.lo + x.hi) / 2, at.r - (y.lo + y.hi) / 2);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const at = place(event);
    if (!drag.picks) {
      move(at.t - drag.t, at.r - drag.r);
      [drag.t, drag.r] = [at.t, at.r];
    } else if (Math.abs(at.t - drag.t) * map.area.width > 4 * (x.max - x.min)) {
      [x.lo, x.hi] = [Math.min(at.t, drag.t), Math.max(at.t, drag.t)];
      clampAxis(x);
      timeline.changed();
    }
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { drag = null; });
  canvas.addEventListener("dblclick", () => timeline.reset());
}
