// Any two metrics against each other. Every burst is stamped into a bitmap;
// a pixel takes the colour of the phase that wins the majority vote of its
// bursts, and is denser the more there are.

import { byId, contextOf } from "../../assets/dom.js";
import { SECONDS, count, ticks } from "../../assets/format.js";
import { positions } from "./data.js";
import { describeBurst } from "./tooltip.js";
import { button, drawBottomAxis, drawBox, drawLeftAxis, fitText, hiddenCanvas, interact, prepare, toPixel, widest, zoomAxis } from "./view.js";

/** @import { Axis, App, PageColours, Scatter } from "./types" */

/**
 * A disc as offsets and coverage, for a radius in pixels of the bitmap.
 * @param {number} radius
 */
function discStamp(radius) {
  if (radius < 0.8) return [[0, 0, 1]];
  const stamp = [];
  const reach = Math.ceil(radius);
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const weight = Math.min(Math.max(radius + 0.5 - Math.hypot(dx, dy), 0), 1);
      if (weight > 0) stamp.push([dx, dy, weight]);
    }
  }
  return stamp;
}

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
  const { data, state } = app;
  const picture = /** @type {Scatter} */ ({
    canvas,
    x: freeAxis(),
    y: freeAxis(),
    area: { x: 0, y: 0, width: 1, height: 1 },
    box: null,
    counts: { drawn: 0, outside: 0, missing: 0 },
    changed: () => app.schedule(picture),
    leave: () => app.point(-1),
  });
  picture.zoomBoth = true;
  picture.wheel = () => [true, true];
  let xs = new Float32Array(0);
  let ys = new Float32Array(0);
  /** @type {HTMLCanvasElement | null} */
  let bitmap = null;
  /** The burst whose colour each pixel of the bitmap has, or -1. */
  let owner = new Int32Array(0);
  // Bursts in view and their pixels; kept, since they are as long as the data.
  const visible = new Int32Array(data.n);
  const place = new Int32Array(data.n);

  /** Takes over the metrics and scales of the controls. */
  picture.choose = () => {
    [picture.x.log, picture.y.log] = [state.xLog, state.yLog];
    xs = positions(state.xMetric, state.xLog, data.n);
    ys = positions(state.yMetric, state.yLog, data.n);
    picture.reset();
  };

  picture.reset = () => {
    for (const axis of [picture.x, picture.y]) {
      const [values, other] = axis === picture.x ? [xs, ys] : [ys, xs];
      let lo = Infinity;
      let hi = -Infinity;
      for (let i = 0; i < data.n; i++) {
        const v = values[i];
        if (state.shown[data.label[i]] && !Number.isNaN(other[i])) {
          if (v < lo) lo = v;
          if (v > hi) hi = v;
        }
      }
      if (!(lo <= hi)) {
        lo = 0;
        hi = 1;
      }
      const pad = hi > lo ? (hi - lo) * 0.04 : axis.log || lo === 0 ? 0.5 : Math.abs(lo) * 0.05;
      [axis.lo, axis.hi] = [lo - pad, hi + pad];
      const span = axis.hi - axis.lo;
      Object.assign(axis, { min: axis.lo - 2 * span, max: axis.hi + 2 * span, least: span * 1e-5 });
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

  picture.render = () => {
    const { context, width, height, ratio } = prepare(canvas);
    layout(context, width, height);
    const W = Math.max(Math.round(picture.area.width * ratio), 1);
    const H = Math.max(Math.round(picture.area.height * ratio), 1);
    bitmap = hiddenCanvas(W, H);
    const votes = stampAll(W, H, ratio);
    contextOf(bitmap).putImageData(colourVotes(votes, W, H), 0, 0);
    describe();
  };

  /**
   * Finds the bursts in view; writes their indices to `visible`.
   * @param {number} W
   * @param {number} H
   */
  const collect = (W, H) => {
    const { label, n } = data;
    const { shown } = state;
    const x0 = picture.x.lo;
    const y0 = picture.y.lo;
    const sx = W / (picture.x.hi - x0);
    const sy = H / (picture.y.hi - y0);
    let drawn = 0;
    let outside = 0;
    let missing = 0;
    for (let i = 0; i < n; i++) {
      if (!shown[label[i]]) continue;
      const px = (xs[i] - x0) * sx;
      const py = (ys[i] - y0) * sy;
      if (px >= 0 && px < W && py >= 0 && py < H) {
        visible[drawn] = i;
        place[drawn++] = (H - 1 - (py | 0)) * W + (px | 0);
      } else if (!Number.isNaN(px + py)) outside++;
      else missing++;
    }
    picture.counts = { drawn, outside, missing };
    return drawn;
  };

  /**
   * Lets every burst in view vote for the pixels it covers.
   * @param {number} W
   * @param {number} H
   * @param {number} ratio
   */
  const stampAll = (W, H, ratio) => {
    const drawn = collect(W, H);
    const stamp = discStamp(ratio * (drawn <= 3000 ? 2.6 : drawn <= 30000 ? 1.8 : drawn <= 150000 ? 1 : 0.5));
    const total = new Float32Array(W * H);
    const lead = new Float32Array(W * H);
    const leader = new Int32Array(W * H).fill(-1);
    owner = new Int32Array(W * H);
    const grouping = app.grouping();
    const { of, dim } = grouping;
    for (const [dx, dy, weight] of stamp) {
      for (let k = 0; k < drawn; k++) {
        const p = place[k] + dy * W + dx;
        const px = (place[k] % W) + dx;
        if (p < 0 || p >= total.length || px < 0 || px >= W) continue;
        const i = visible[k];
        const g = of[i];
        // Others hardly count while something stands out.
        const w = dim[g] ? weight * 0.02 : weight;
        total[p] += weight;
        if (leader[p] === g) {
          lead[p] += w;
          owner[p] = i;
        } else if (w > lead[p]) {
          lead[p] = w - lead[p];
          leader[p] = g;
          owner[p] = i;
        } else {
          lead[p] -= w;
        }
      }
    }
    for (let p = 0; p < leader.length; p++) if (leader[p] < 0) owner[p] = -1;
    return { total, leader, grouping, density: drawn > 150000 ? 0.7 : 1.3 };
  };

  /**
   * @param {ReturnType<typeof stampAll>} votes
   * @param {number} W
   * @param {number} H
   */
  const colourVotes = ({ total, leader, grouping: { colours, dim }, density }, W, H) => {
    const image = new ImageData(W, H);
    const pixels = new Uint32Array(image.data.buffer);
    for (let p = 0; p < pixels.length; p++) {
      const g = leader[p];
      if (g < 0) continue;
      const alpha = (1 - Math.exp(-density * total[p])) * (dim[g] ? 0.13 : 1);
      pixels[p] = (colours[g] & 0xffffff) | ((alpha * 255) << 24);
    }
    return image;
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
    if (bitmap) context.drawImage(bitmap, area.x, area.y, area.width, area.height);
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
    if (i < 0 || !state.shown[data.label[i]]) return;
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
    if (!bitmap || x < 0 || y < 0) return -1;
    const { width: W, height: H } = bitmap;
    const scale = W / picture.area.width;
    const [cx, cy] = [Math.round(x * scale), Math.round(y * scale)];
    const reach = Math.round(7 * scale);
    let [best, found] = [reach * reach + 1, -1];
    for (let py = Math.max(cy - reach, 0); py <= Math.min(cy + reach, H - 1); py++) {
      for (let px = Math.max(cx - reach, 0); px <= Math.min(cx + reach, W - 1); px++) {
        const d = (px - cx) ** 2 + (py - cy) ** 2;
        if (d < best && owner[py * W + px] >= 0) [best, found] = [d, owner[py * W + px]];
      }
    }
    return found;
  };

  const describe = () => {
    const { drawn, outside, missing } = picture.counts;
    const parts = [`${count(drawn)} bursts in view`];
    if (outside) parts.push(`${count(outside)} outside it`);
    if (missing) parts.push(`${count(missing)} without a ${state.xLog || state.yLog ? "positive " : ""}value`);
    byId("scatter-caption").textContent = `${parts.join(", ")}. ${MOVES}`;
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

const MOVES = "Wheel zooms, drag pans, Shift-drag zooms to a box, double-click shows all.";
