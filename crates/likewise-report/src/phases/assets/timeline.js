// Rows × time. A pixel has the colour of the phase with most time in it,
// over all rows and bursts that fall into it; what is highlighted comes first.

import { byId } from "../../assets/dom.js";
import { count, niceStep, quantity } from "../../assets/format.js";
import { rowOf } from "./data.js";
import { colourWinners, paintRows, takeWinners, zoomButtons } from "./lines.js";
import { describeBurst } from "./tooltip.js";
import { drawBox, fromPixel, hiddenCanvas, interact, prepare, toPixel, widest } from "./view.js";

/** @import { App, Grouping, PageColours, Timeline } from "./types" */

/**
 * The timeline on the canvas `id`, coloured by `grouping()`; `colours` says by
 * what. With `other`, a timeline, it shows the same rows and times as that.
 * @param {App} app
 * @param {string} id
 * @param {() => Grouping} grouping
 * @param {string} colours
 * @param {Timeline | null} other
 * @returns {Timeline}
 */
export function makeTimeline(app, id, grouping, colours, other = null) {
  const canvas = byId(id, HTMLCanvasElement);
  const { data, state } = app;
  const { meta, rowStart, begin, duration, label } = data;
  const nRows = meta.rows.length;
  const picture = /** @type {Timeline} */ ({
    canvas,
    x: other?.x ?? { lo: 0, hi: meta.end, min: 0, max: meta.end, least: Math.min(Math.max(meta.tick * 20, 100), meta.end), log: false },
    y: other?.y ?? { lo: 0, hi: Math.max(nRows, 1), min: 0, max: Math.max(nRows, 1), least: Math.min(2, Math.max(nRows, 1)), down: true },
    area: { x: 0, y: 0, width: 1, height: 1 },
    box: null,
    changed: () => picture.together.forEach((one) => app.schedule(one)),
    leave: () => app.point(-1),
    // Over the names, and with Shift, the wheel zooms the rows.
    wheel: (event, [x]) => (event.shiftKey || x < 0 ? [false, true] : [true, false]),
  });
  // Those that share their axes.
  picture.together = other?.together ?? [];
  picture.together.push(picture);
  /** @type {HTMLCanvasElement | null} */
  let bitmap = null;

  picture.reset = () => {
    [picture.x.lo, picture.x.hi] = [0, meta.end];
    [picture.y.lo, picture.y.hi] = [0, picture.y.max];
    picture.changed();
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   */
  const layout = (context, width, height) => {
    const first = Math.floor(picture.y.lo);
    const last = Math.min(Math.ceil(picture.y.hi), nRows);
    const step = Math.max(1, niceStep(((last - first) * 14) / Math.max(height - 28, 14)));
    const shownRows = [];
    for (let r = Math.ceil(first / step) * step; r < last; r += step) shownRows.push(r);
    const gutter = Math.min(Math.max(widest(context, shownRows.map((r) => meta.rows[r])) + 12, 24), Math.min(150, width * 0.3));
    picture.area = { x: gutter, y: 4, width: width - gutter - 8, height: height - 28 };
    return shownRows;
  };

  /**
   * The first burst of row `r` that may reach time `t`.
   * @param {number} r
   * @param {number} t
   */
  const firstAt = (r, t) => {
    let lo = rowStart[r];
    let hi = rowStart[r + 1];
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (begin[mid] < t) lo = mid + 1;
      else hi = mid;
    }
    return Math.max(lo - 1, rowStart[r]);
  };

  /**
   * Adds the time of a row's bursts to `time[group · W + pixel]`.
   * @param {number} r
   * @param {number} W
   * @param {Grouping} groups
   * @param {Float64Array} time
   * @param {Uint8Array} seen
   */
  const addRow = (r, W, { of, dim }, time, seen) => {
    const { lo, hi } = picture.x;
    const scale = W / (hi - lo);
    const stop = rowStart[r + 1];
    for (let i = firstAt(r, lo); i < stop && begin[i] < hi; i++) {
      const l = label[i];
      if (!state.shown[l]) continue;
      const from = Math.max((begin[i] - lo) * scale, 0);
      // Even a burst without duration leaves a trace.
      const to = Math.min(Math.max((begin[i] + duration[i] - lo) * scale, from + 1e-6), W);
      if (to <= from) continue;
      const g = of[i];
      seen[g] = 1;
      // Others hardly count while something stands out.
      const weight = meta.labels[l].weight * (dim[g] ? 0.001 : 1);
      const base = g * W;
      const a = from | 0;
      const b = Math.min(to | 0, W - 1);
      if (a === b) {
        time[base + a] += (to - from) * weight;
      } else {
        time[base + a] += (a + 1 - from) * weight;
        for (let p = a + 1; p < b; p++) time[base + p] += weight;
        time[base + b] += (to - b) * weight;
      }
    }
  };

  /**
   * Writes the winners of rows `from` to `to` to one line of pixels.
   * @param {number} from
   * @param {number} to
   * @param {number} W
   * @param {Grouping} groups
   * @param {Float64Array} time
   * @param {Uint8Array} seen
   * @param {Uint32Array} line
   */
  const fillLine = (from, to, W, groups, time, seen, line) => {
    for (let r = from; r < to; r++) addRow(r, W, groups, time, seen);
    takeWinners(time, seen, W, line);
  };

  picture.render = () => {
    const { context, width, height, ratio } = prepare(canvas);
    layout(context, width, height);
    const W = Math.max(Math.round(picture.area.width * ratio), 1);
    const H = Math.max(Math.round(picture.area.height * ratio), 1);
    bitmap = hiddenCanvas(W, H);
    const winners = new Uint32Array(W * H);
    const groups = grouping();
    const nGroups = groups.colours.length;
    const time = new Float64Array(W * nGroups);
    const seen = new Uint8Array(nGroups);
    const { lo, hi } = picture.y;
    const rowsPerPixel = (hi - lo) / H;
    if (rowsPerPixel >= 1) {
      for (let y = 0; y < H; y++) {
        const from = Math.floor(lo + y * rowsPerPixel);
        const to = Math.min(Math.floor(lo + (y + 1) * rowsPerPixel), nRows);
        fillLine(from, to, W, groups, time, seen, winners.subarray(y * W, (y + 1) * W));
      }
    } else {
      const gap = 1 / rowsPerPixel >= 4 * ratio ? Math.round(ratio) : 0;
      for (let r = Math.floor(lo); r < Math.min(hi, nRows); r++) {
        const line = new Uint32Array(W);
        fillLine(r, r + 1, W, groups, time, seen, line);
        const from = Math.max(Math.round((r - lo) / rowsPerPixel), 0);
        const to = Math.min(Math.round((r + 1 - lo) / rowsPerPixel) - gap, H);
        for (let y = from; y < to; y++) winners.set(line, y * W);
      }
    }
    colourWinners(bitmap, winners, groups);
    describe();
  };

  picture.paint = () => {
    const { context, width, height } = prepare(canvas);
    const colours = app.page;
    const shownRows = layout(context, width, height);
    paintRows(context, picture, bitmap, "ns", shownRows.map((r) => [r + 0.5, meta.rows[r]]), colours);
    drawMark(context, colours);
    drawBox(context, picture, colours);
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {PageColours} colours
   */
  const drawMark = (context, colours) => {
    const i = state.hover;
    if (i < 0 || !state.shown[label[i]]) return;
    const { area } = picture;
    const row = rowOf(data, i);
    const from = Math.max(toPixel(picture.x, begin[i], area.width), 0);
    const to = Math.min(toPixel(picture.x, begin[i] + duration[i], area.width), area.width);
    const top = Math.max(toPixel(picture.y, row, area.height), 0);
    const bottom = Math.min(toPixel(picture.y, row + 1, area.height), area.height);
    if (to < from || bottom < top) return;
    context.strokeStyle = colours.text;
    context.lineWidth = 1.5;
    context.strokeRect(area.x + from - 1.5, area.y + top - 1.5, Math.max(to - from, 1) + 3, Math.max(bottom - top, 1) + 2);
    context.lineWidth = 1;
  };

  /**
   * The burst at a place, or the nearest within three pixels in its row.
   * @param {number} row
   * @param {number} t
   * @param {number} slack
   */
  const burstAt = (row, t, slack) => {
    let [best, found] = [slack, -1];
    for (let i = firstAt(row, t - slack); i < rowStart[row + 1] && begin[i] <= t + slack; i++) {
      const away = Math.max(begin[i] - t, t - begin[i] - duration[i], 0);
      if (state.shown[label[i]] && away <= best) [best, found] = [away, i];
      if (away === 0 && found === i) break;
    }
    return found;
  };

  picture.hover = (x, y, event) => {
    const { area } = picture;
    const row = Math.floor(fromPixel(picture.y, y, area.height));
    if (x < 0 || y < 0 || x >= area.width || y >= area.height || row >= nRows) return app.point(-1);
    const t = fromPixel(picture.x, x, area.width);
    const slack = (3 * (picture.x.hi - picture.x.lo)) / area.width;
    const perPixel = (picture.y.hi - picture.y.lo) / area.height;
    let i = -1;
    for (let r = row; i < 0 && r < Math.min(row + Math.max(perPixel, 1), nRows); r++) i = burstAt(r, t, slack);
    app.point(i);
    if (i < 0) return;
    const aside = perPixel > 1.5 ? `This pixel holds about ${Math.round(perPixel)} rows; zoom in to tell them apart.` : "";
    describeBurst(app, event, i, aside);
  };

  const describe = () => {
    const rows = `${count(Math.min(picture.y.hi - picture.y.lo, nRows))} of ${count(nRows)} rows`;
    const times = `${quantity(picture.x.hi - picture.x.lo, "ns")} of ${quantity(meta.end, "ns")}`;
    const text = `${rows}, ${times}. A pixel has the colour of the ${colours} with most time in it, or of what is highlighted.`;
    byId(`${id}-caption`).textContent = `${text} Wheel zooms time, Shift-wheel zooms rows.`;
    canvas.setAttribute("aria-label", `Timeline by ${colours}, ${text} ${app.summary()}`);
  };

  interact(canvas, picture);
  byId(`${id}-buttons`).append(...zoomButtons(picture, "Time", "time"));
  return picture;
}
