// Rows × time. Each row is stacked: a phase is as high as its share of the
// time that a pixel holds, and so is idle (see stack.js).

import { byId } from "../../assets/dom.js";
import { count, niceStep, percent, quantity } from "../../assets/format.js";
import { drawBarTexts } from "./bars.js";
import { rowOf } from "./data.js";
import { howToMove, interact } from "./gestures.js";
import { paintRows, zoomButtons } from "./lines.js";
import { makeLook } from "./look.js";
import { makeShares } from "./shares.js";
import { drawLines } from "./stack.js";
import { makeSurface } from "./surface.js";
import { describeBurst, describeIdle } from "./tooltip.js";
import { drawBox, fromPixel, prepare, toPixel, widest } from "./view.js";
import { rowName } from "./words.js";

/** @import { App, Grouping, PageColours, Shares, Timeline, Words } from "./types" */

/** Below the area: the ruler. */
const RULER = 28;

/**
 * The timeline on the canvas `id`, coloured by `grouping()`; `words` say by
 * what. With `other`, a timeline, it shows the same rows and times as that.
 * @param {App} app
 * @param {string} id
 * @param {() => Grouping} grouping
 * @param {Words} words
 * @param {Timeline | null} other
 * @returns {Timeline}
 */
export function makeTimeline(app, id, grouping, words, other = null) {
  const canvas = byId(id, HTMLCanvasElement);
  const { data, state, selection } = app;
  const { meta, rowStart, begin, duration } = data;
  const nRows = meta.rows.length;
  const names = meta.rows.map(rowName);
  const surface = makeSurface();
  const picture = /** @type {Timeline} */ ({
    canvas,
    x: other?.x ?? { lo: 0, hi: meta.end, min: 0, max: meta.end, least: Math.min(Math.max(meta.tick * 20, 100), meta.end), log: false },
    y: other?.y ?? { lo: 0, hi: Math.max(nRows, 1), min: 0, max: Math.max(nRows, 1), least: Math.min(2, Math.max(nRows, 1)), down: true },
    area: { x: 0, y: 0, width: 1, height: 1 },
    box: null,
    changed: () => app.move(picture.together),
    leave: () => app.point(-1),
    // Over the names, and with Shift, the wheel zooms the rows.
    wheel: (event, [x]) => (event.shiftKey || x < 0 ? [false, true] : [true, false]),
  });
  // Those that share their axes.
  picture.together = other?.together ?? [];
  picture.together.push(picture);

  picture.reset = () => {
    [picture.x.lo, picture.x.hi] = [0, meta.end];
    [picture.y.lo, picture.y.hi] = [0, picture.y.max];
    picture.changed();
  };

  /** @type {Shares | null} */
  let kept = null;
  /** @type {Grouping["of"] | null} */
  let keptOf = null;
  let keptVersion = -1;
  let round = 0;
  /** The shares by the grouping of now, made anew where that or the selection has changed. */
  picture.drawn = () => {
    const groups = grouping();
    if (!kept || keptOf !== groups.of || keptVersion !== selection.version) {
      [keptOf, keptVersion] = [groups.of, selection.version];
      kept = makeShares(data, groups.of, groups.colours.length, selection);
      round++;
    }
    const look = makeLook(kept, groups, app.page);
    return { shares: kept, groups, look, made: `${round} ${look.idle} ${look.colours}` };
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   */
  const layout = (context, width, height) => {
    const first = Math.floor(picture.y.lo);
    const last = Math.min(Math.ceil(picture.y.hi), nRows);
    const step = Math.max(1, niceStep(((last - first) * 14) / Math.max(height - RULER, 14)));
    const shownRows = [];
    for (let r = Math.ceil(first / step) * step; r < last; r += step) shownRows.push(r);
    const gutter = Math.min(Math.max(widest(context, shownRows.map((r) => names[r])) + 12, 34), Math.min(150, width * 0.3));
    picture.area = { x: Math.round(gutter), y: 4, width: width - Math.round(gutter) - 8, height: height - RULER };
    return shownRows;
  };

  picture.render = (coarse) => {
    const { context, width, height, ratio } = prepare(canvas);
    layout(context, width, height);
    const scale = coarse ? 1 : ratio;
    // Time is by columns: half of them, half of it.
    const W = Math.max(Math.round(picture.area.width * (coarse ? 0.5 : ratio)), 1);
    const H = Math.max(Math.round(picture.area.height * scale), 1);
    const { shares, look } = picture.drawn();
    drawLines(shares, picture, nRows, look, surface.resize(W, H), W, H, Math.round(scale));
    surface.show();
    if (!coarse) describe();
  };

  picture.paint = () => {
    const { context, width, height } = prepare(canvas);
    const shownRows = layout(context, width, height);
    paintRows(context, picture, surface, "ns", shownRows.map((r) => [r + 0.5, names[r]]), app.page);
    const { shares, groups } = picture.drawn();
    drawBarTexts(context, app, picture, shares, groups, words.textsOf);
    drawMark(context, app.page);
    drawBox(context, picture, app.page);
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {PageColours} colours
   */
  const drawMark = (context, colours) => {
    const i = state.hover;
    if (i < 0 || !selection.has(i)) return;
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
   * The burst at a place, or the nearest within `slack` in its row.
   * @param {number} row
   * @param {number} t
   * @param {number} slack
   */
  const burstAt = (row, t, slack) => {
    const { firstAt } = picture.drawn().shares;
    let [best, found] = [slack, -1];
    for (let i = firstAt(row, t - slack); i < rowStart[row + 1] && begin[i] <= t + slack; i++) {
      const away = Math.max(begin[i] - t, t - begin[i] - duration[i], 0);
      if (selection.has(i) && away <= best) [best, found] = [away, i];
      if (away === 0 && found === i) break;
    }
    return found;
  };

  /**
   * The greatest shares of a pixel, in words, where it holds several.
   * @param {number} row
   * @param {number} rows
   * @param {number} t
   */
  const sharesAt = (row, rows, t) => {
    const { shares } = picture.drawn();
    const half = (picture.x.hi - picture.x.lo) / picture.area.width / 2;
    const amounts = new Float64Array(shares.nSlots);
    for (let r = row; r < row + rows; r++) shares.addRow(r, t - half, t + half, 1, amounts);
    /** @type {[string, number][]} */
    const parts = shares.groups.map((g, slot) => [words.nameOf(g), amounts[slot] / rows]);
    parts.push(["hidden", amounts[shares.nSlots - 1] / rows]);
    const busy = parts.reduce((sum, part) => sum + part[1], 0);
    parts.push(["idle or MPI", 1 - busy]);
    const shown = parts.filter((part) => part[1] >= 0.01).sort((a, b) => b[1] - a[1]);
    if (shown.length < 2) return "";
    const more = shown.length > 4 ? ", …" : "";
    return `${rows > 1 ? `${rows} rows` : "Time"} at this pixel: ${shown.slice(0, 4).map(([name, share]) => `${name} ${percent(share)}`).join(", ")}${more}. Zoom in to tell them apart.`;
  };

  picture.hover = (x, y, event) => {
    const { area } = picture;
    const row = Math.floor(fromPixel(picture.y, y, area.height));
    if (x < 0 || y < 0 || x >= area.width || y >= area.height || row >= nRows) return app.point(-1);
    const t = fromPixel(picture.x, x, area.width);
    const perPixel = (picture.x.hi - picture.x.lo) / area.width;
    const rows = Math.min(Math.max(Math.round((picture.y.hi - picture.y.lo) / area.height), 1), nRows - row);
    let i = -1;
    for (let r = row; i < 0 && r < row + rows; r++) i = burstAt(r, t, 0.5 * perPixel);
    for (let r = row; i < 0 && r < row + rows; r++) i = burstAt(r, t, 3 * perPixel);
    app.point(i);
    if (i >= 0) return describeBurst(app, event, i, sharesAt(row, rows, t));
    const { firstAt } = picture.drawn().shares;
    let next = firstAt(row, t);
    if (next < rowStart[row + 1] && begin[next] <= t) next++;
    describeIdle(app, event, row, next);
  };

  const describe = () => {
    const rows = `${count(Math.min(picture.y.hi - picture.y.lo, nRows))} of ${count(nRows)} rows`;
    const times = `${quantity(picture.x.hi - picture.x.lo, "ns")} of ${quantity(meta.end, "ns")}`;
    const text = `${rows}, ${times}. Within a row, each ${words.colours} is as high as its share of the time, and so is idle.`;
    byId(`${id}-caption`).textContent = `${text} ${howToMove(" time", true)}${other ? "" : " The strip above is the whole run; its window can be dragged."}`;
    canvas.setAttribute("aria-label", `Timeline by ${words.colours}, ${text} ${app.summary()}`);
  };

  interact(canvas, picture);
  byId(`${id}-buttons`).append(...zoomButtons(picture, "Time", "time"));
  return picture;
}
