// Rows × time. Each row is stacked: a phase is as high as its share of the
// time that a pixel holds, and so is idle (see stack.js).

import { byId } from "../../assets/dom.js";
import { count, niceStep, quantity } from "../../assets/format.js";
import { drawBarTexts } from "./bars.js";
import { rowOf } from "./data.js";
import { howToMove, interact } from "./gestures.js";
import { paintRows, zoomButtons } from "./lines.js";
import { makeLook } from "./look.js";
import { makeShares } from "./shares.js";
import { hoverOf } from "./pointed.js";
import { drawLines } from "./stack.js";
import { makeSurface } from "./surface.js";
import { drawBox, prepare, toPixel, widest } from "./view.js";
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
  const { meta, begin, duration } = data;
  const nRows = meta.rows.length;
  const names = meta.rows.map(rowName);
  const surface = makeSurface();
  const picture = /** @type {Timeline} */ ({
    canvas,
    x: other?.x ?? { lo: meta.begin, hi: meta.end, min: meta.begin, max: meta.end, least: Math.min(Math.max(meta.tick * 20, 100), meta.end - meta.begin), log: false },
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
    [picture.x.lo, picture.x.hi] = [meta.begin, meta.end];
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

  picture.hover = hoverOf(app, picture, words);

  const describe = () => {
    const rows = `${count(Math.min(picture.y.hi - picture.y.lo, nRows))} of ${count(nRows)} rows`;
    const times = `${quantity(picture.x.hi - picture.x.lo, "ns")} of ${quantity(meta.end - meta.begin, "ns")}`;
    const text = `${rows}, ${times}. Within a row, each ${words.colours} is as high as its share of the time, and so is idle.`;
    byId(`${id}-caption`).textContent = `${text} ${howToMove(" time", true)}${other ? "" : " The strip above is the whole run; its window can be dragged."}`;
    canvas.setAttribute("aria-label", `Timeline by ${words.colours}, ${text} ${app.summary()}`);
  };

  interact(canvas, picture);
  byId(`${id}-buttons`).append(...zoomButtons(picture, "Time", "time"));
  return picture;
}
