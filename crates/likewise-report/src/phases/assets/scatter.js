// Any two metrics against each other.

import { byId } from "../../assets/dom.js";
import { SECONDS, count, ticks } from "../../assets/format.js";
import { makeCloud } from "./cloud.js";
import { positions } from "./data.js";
import { howToMove, interact } from "./gestures.js";
import { makeSurface } from "./surface.js";
import { describeBurst } from "./tooltip.js";
import { button, drawBottomAxis, drawBox, drawLeftAxis, fitText, prepare, toPixel, widest, zoomAxis } from "./view.js";

/** @import { Axis, App, PageColours, Scatter } from "./types" */

/**
 * An axis whose limits are not known yet.
 * @returns {Axis}
 */
const freeAxis = () => ({ lo: 0, hi: 1, min: 0, max: 1, least: 1, log: false });

/**
 * @param {App} app
 * @returns {Scatter}
 */
export function makeScatter(app) {
  const canvas = byId("scatter", HTMLCanvasElement);
  const { data, state, selection } = app;
  const picture = /** @type {Scatter} */ ({
    canvas,
    x: freeAxis(),
    y: freeAxis(),
    area: { x: 0, y: 0, width: 1, height: 1 },
    box: null,
    changed: () => app.move([picture]),
    leave: () => app.point(-1),
  });
  picture.zoomBoth = true;
  picture.wheel = () => [true, true];
  let xs = new Float32Array(0);
  let ys = new Float32Array(0);
  const surface = makeSurface();
  const cloud = makeCloud();

  /** Takes over the metrics and scales of the controls. */
  picture.choose = () => {
    [picture.x.log, picture.y.log] = [state.xLog, state.yLog];
    xs = positions(state.xMetric, state.xLog, data.n);
    ys = positions(state.yMetric, state.yLog, data.n);
    counted.version = -1;
    picture.reset();
    cloud.place(xs, ys, picture.x, picture.y);
  };

  /**
   * The range of values of the bursts that have both metrics, with some room.
   * @param {Float32Array} values
   * @param {Float32Array} other
   * @param {boolean} log
   * @param {(burst: number) => boolean} which
   */
  const rangeOf = (values, other, log, which) => {
    let lo = Infinity;
    let hi = -Infinity;
    for (let i = 0; i < data.n; i++) {
      const v = values[i];
      if (Number.isNaN(other[i]) || !which(i)) continue;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
    if (!(lo <= hi)) [lo, hi] = [0, 1];
    const pad = hi > lo ? (hi - lo) * 0.04 : log || lo === 0 ? 0.5 : Math.abs(lo) * 0.05;
    // Nothing is below 0 of what never is.
    return { lo: !log && lo >= 0 ? Math.max(lo - pad, 0) : lo - pad, hi: hi + pad };
  };

  /** Shows all that is chosen; the limits of the axes hold every burst. */
  picture.reset = () => {
    for (const axis of [picture.x, picture.y]) {
      const [values, other] = axis === picture.x ? [xs, ys] : [ys, xs];
      const all = rangeOf(values, other, axis.log ?? false, () => true);
      const shown = rangeOf(values, other, axis.log ?? false, selection.has);
      const [min, max] = [Math.min(all.lo, shown.lo), Math.max(all.hi, shown.hi)];
      Object.assign(axis, shown, { min, max, least: (max - min) * 1e-5 });
    }
    picture.changed();
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   */
  const layout = (context, width, height) => {
    const yMarks = ticks(picture.y, state.yMetric.unit, (height - 62) / 44);
    const gutter = Math.min(Math.max(widest(context, yMarks.map((m) => m.text)) + 12, 34), width / 3);
    picture.area = { x: gutter, y: 20, width: width - gutter - 8, height: height - 20 - 42 };
    return yMarks;
  };

  picture.render = (coarse) => {
    const { context, width, height, ratio } = prepare(canvas);
    layout(context, width, height);
    const scale = coarse ? 1 : ratio;
    const W = Math.max(Math.round(picture.area.width * scale), 1);
    const H = Math.max(Math.round(picture.area.height * scale), 1);
    const pixels = surface.resize(W, H);
    const drawn = cloud.draw(picture.x, picture.y, selection, app.grouping(), W, H, scale, pixels);
    surface.show();
    if (!coarse) describe(drawn);
  };

  picture.paint = () => {
    const { context, width, height } = prepare(canvas);
    const colours = app.page;
    const marks = layout(context, width, height);
    const { area } = picture;
    context.fillStyle = colours.plot;
    context.fillRect(area.x, area.y, area.width, area.height);
    drawLeftAxis(context, area, picture.y, marks, colours);
    drawBottomAxis(context, area, picture.x, state.xMetric.unit, colours);
    surface.draw(context, area);
    context.strokeStyle = colours.line;
    context.strokeRect(area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
    context.fillStyle = colours.text;
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(fitText(context, axisName(state.yMetric), width - area.x), area.x, 3);
    context.textAlign = "right";
    context.fillText(fitText(context, axisName(state.xMetric), area.width), area.x + area.width, height - 15);
    drawMark(context, colours);
    drawBox(context, picture, colours);
  };

  /** @param {{ name: string, unit: string }} metric */
  const axisName = ({ name, unit }) => (unit && !(unit in SECONDS) ? `${name} (${unit})` : name);

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {PageColours} colours
   */
  const drawMark = (context, colours) => {
    const i = state.hover;
    if (i < 0 || !selection.has(i)) return;
    const { area } = picture;
    const x = toPixel(picture.x, xs[i], area.width);
    const y = area.height - toPixel(picture.y, ys[i], area.height);
    if (!(x >= 0 && x <= area.width && y >= 0 && y <= area.height)) return;
    context.beginPath();
    context.arc(area.x + x, area.y + y, 6, 0, 2 * Math.PI);
    context.strokeStyle = colours.text;
    context.lineWidth = 1.5;
    context.stroke();
    context.lineWidth = 1;
  };

  picture.hover = (x, y, event) => {
    const i = nearest(x, y);
    app.point(i);
    if (i >= 0) describeBurst(app, event, i);
  };

  /**
   * The burst nearest to a place, among those that gave pixels their colour.
   * @param {number} x
   * @param {number} y
   */
  const nearest = (x, y) => {
    if (x < 0 || y < 0) return -1;
    const { width: W, height: H } = surface;
    const scale = W / picture.area.width;
    const [cx, cy] = [Math.round(x * scale), Math.round(y * scale)];
    const reach = Math.round(7 * scale);
    let [best, found] = [reach * reach + 1, -1];
    for (let py = Math.max(cy - reach, 0); py <= Math.min(cy + reach, H - 1); py++) {
      for (let px = Math.max(cx - reach, 0); px <= Math.min(cx + reach, W - 1); px++) {
        const d = (px - cx) ** 2 + (py - cy) ** 2;
        if (d < best && cloud.owner(py * W + px) >= 0) [best, found] = [d, cloud.owner(py * W + px)];
      }
    }
    return found;
  };

  /** How many chosen bursts have no place, and how many are chosen. */
  const counted = { version: -1, missing: 0, chosen: 0 };

  /** @param {number} drawn */
  const describe = (drawn) => {
    if (counted.version !== selection.version) {
      Object.assign(counted, { version: selection.version, missing: 0, chosen: 0 });
      for (let i = 0; i < data.n; i++) {
        if (!selection.has(i)) continue;
        counted.chosen++;
        if (Number.isNaN(xs[i] + ys[i])) counted.missing++;
      }
    }
    const { missing } = counted;
    const outside = counted.chosen - missing - drawn;
    const parts = [`${count(drawn)} bursts in view`];
    if (outside) parts.push(`${count(outside)} outside it`);
    if (missing) parts.push(`${count(missing)} without a ${state.xLog || state.yLog ? "positive " : ""}value`);
    byId("scatter-caption").textContent = `${parts.join(", ")}. ${howToMove("", false)}`;
    canvas.setAttribute("aria-label", `Scatter of ${state.yMetric.name} against ${state.xMetric.name}: ${parts.join(", ")}. ${app.summary()}`);
  };

  interact(canvas, picture);
  const buttons = byId("scatter-buttons");
  /** @param {number} factor */
  const zoom = (factor) => () => {
    zoomAxis(picture.x, factor, 0.5);
    zoomAxis(picture.y, factor, 0.5);
    picture.changed();
  };
  buttons.append(button("+", "Zoom in", zoom(0.6)), button("−", "Zoom out", zoom(1 / 0.6)), button("Reset", "Show all", picture.reset));
  return picture;
}
