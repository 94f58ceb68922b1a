// Sequences of phases × columns of the alignment. A pixel has the colour of
// the phase that most tasks have there, paler the more of them have a gap.

import { byId } from "../../assets/dom.js";
import { count, percent } from "../../assets/format.js";
import { howToMove, interact } from "./gestures.js";
import { colourWinners, paintRows, takeWinners, zoomButtons } from "./lines.js";
import { makeSurface } from "./surface.js";
import { hideTooltip, showTooltip } from "./tooltip.js";
import { drawBox, fromPixel, prepare, toPixel, widest } from "./view.js";

/** @import { App, Picture } from "./types" */

/**
 * @param {App} app
 * @returns {Picture | null}
 */
export function makeAlignment(app) {
  const { alignment } = app.data;
  if (!alignment || alignment.rows.length === 0) return null;
  byId("alignment-section").hidden = false;
  const canvas = byId("alignment", HTMLCanvasElement);
  const byTasks = byId("alignment-tasks", HTMLInputElement);
  const { labels } = app.data.meta;
  const { rows, rowStart, columns, label } = alignment;
  const nRows = rows.length;
  const nColumns = Math.max(alignment.n_columns, 1);
  const nTasks = rows.reduce((sum, row) => sum + row.n_tasks, 0);
  const picture = /** @type {Picture} */ ({
    canvas,
    // Column k, from 1, is from k - ½ to k + ½.
    x: { lo: 0.5, hi: nColumns + 0.5, min: 0.5, max: nColumns + 0.5, least: Math.min(8, nColumns), log: false, whole: true },
    y: { lo: 0, hi: 1, min: 0, max: 1, least: 1, down: true },
    area: { x: 0, y: 0, width: 1, height: 1 },
    box: null,
    changed: () => app.move([picture]),
    leave: () => point(-1, 0),
    wheel: (event, [x]) => (event.shiftKey || x < 0 ? [false, true] : [true, false]),
  });
  /** Where rows begin on the y axis: after as many rows, or tasks. */
  const tops = new Float64Array(nRows + 1);
  const surface = makeSurface();
  let winners = new Uint32Array(0);
  let cover = new Uint8Array(0);
  /** What `winners` were made for. */
  let made = "";
  let hovered = { row: -1, column: 0 };

  picture.reset = () => {
    [picture.x.lo, picture.x.hi] = [0.5, nColumns + 0.5];
    [picture.y.lo, picture.y.hi] = [0, picture.y.max];
    picture.changed();
  };

  const measure = () => {
    rows.forEach((row, r) => { tops[r + 1] = tops[r] + (byTasks.checked ? Math.max(row.n_tasks, 1) : 1); });
    Object.assign(picture.y, { max: Math.max(tops[nRows], 1), least: Math.min(2, Math.max(nRows, 1)) });
    picture.reset();
  };

  /**
   * The row at a place of the y axis.
   * @param {number} y
   */
  const rowAt = (y) => {
    let [lo, hi] = [0, nRows];
    while (hi - lo > 1) {
      const mid = (lo + hi) >> 1;
      if (tops[mid] <= y) lo = mid;
      else hi = mid;
    }
    return lo;
  };

  /**
   * The first symbol of row `r` at or after a column, from 0.
   * @param {number} r
   * @param {number} column
   */
  const symbolAt = (r, column) => {
    let [lo, hi] = [rowStart[r], rowStart[r + 1]];
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (columns[mid] < column) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  };

  /**
   * Names that do not overlap, at the middle of their rows.
   * @param {number} height
   */
  const names = (height) => {
    const { y } = picture;
    /** @type {[number, string][]} */
    const shown = [];
    let free = -Infinity;
    for (let r = rowAt(y.lo); r < nRows && tops[r] < y.hi; r++) {
      const middle = (Math.max(tops[r], y.lo) + Math.min(tops[r + 1], y.hi)) / 2;
      const pixel = Math.min(Math.max(toPixel(y, middle, height), 5), height - 5);
      if (pixel < free) continue;
      free = pixel + 14;
      shown.push([middle, rows[r].name]);
    }
    return shown;
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   */
  const layout = (context, width, height) => {
    const shown = names(height - 28);
    const gutter = Math.min(Math.max(widest(context, shown.map(([, name]) => name.slice(0, 40))) + 12, 24), Math.min(150, width * 0.3));
    picture.area = { x: gutter, y: 4, width: width - gutter - 8, height: height - 28 };
    return shown;
  };

  /**
   * Adds the tasks of a row to `amount[label · W + pixel]`.
   * @param {number} r
   * @param {number} W
   * @param {number} ratio
   * @param {Float64Array} amount
   * @param {Uint8Array} seen
   */
  const addRow = (r, W, ratio, amount, seen) => {
    const { lo, hi } = picture.x;
    const scale = W / (hi - lo);
    const first = lo - 0.5;
    const gap = scale >= 5 * ratio ? Math.round(ratio) : 0;
    const weight = Math.max(rows[r].n_tasks, 1);
    const stop = rowStart[r + 1];
    const shown = app.selection.labels;
    let last = -1;
    for (let i = symbolAt(r, Math.floor(first)); i < stop && columns[i] < hi - 0.5; i++) {
      const l = label[i];
      if (!shown[l]) continue;
      seen[l] = 1;
      const from = Math.max(Math.floor((columns[i] - first) * scale), 0);
      const to = Math.min(Math.max(Math.floor((columns[i] + 1 - first) * scale) - gap, from + 1), W);
      // Of equals in a pixel the first column wins, or one phase would seem to be everywhere.
      const amountOf = from === last ? weight : weight * 1.001;
      last = from;
      for (let q = l * W + from; q < l * W + to; q++) amount[q] += amountOf;
    }
  };

  /**
   * How many columns are in each pixel.
   * @param {number} W
   */
  const columnsPerPixel = (W) => {
    const { lo, hi } = picture.x;
    const scale = W / (hi - lo);
    const out = new Uint32Array(W).fill(scale >= 1 ? 1 : 0);
    for (let c = Math.floor(lo - 0.5); scale < 1 && c < hi - 0.5; c++) out[Math.max(Math.floor((c - lo + 0.5) * scale), 0)]++;
    return out;
  };

  /**
   * Rows thinner than a pixel share one.
   * @param {number} W
   * @param {number} H
   * @param {number} ratio
   */
  const fill = (W, H, ratio) => {
    winners = new Uint32Array(W * H);
    cover = new Uint8Array(W * H);
    const perPixel = columnsPerPixel(W);
    const amount = new Float64Array(W * labels.length);
    const seen = new Uint8Array(labels.length);
    const { lo, hi } = picture.y;
    /** @param {number} y */
    const place = (y) => Math.floor(((y - lo) / (hi - lo)) * H);
    let [shared, weight] = [-1, 0];
    /**
     * @param {number} from
     * @param {number} to
     */
    const write = (from, to) => {
      const line = new Uint32Array(W);
      const sum = new Float64Array(W);
      takeWinners(amount, seen, W, line, sum);
      const part = Uint8Array.from(sum, (s, p) => 55 + 200 * Math.min(s / Math.max(perPixel[p] * weight, 1), 1));
      for (let y = Math.max(from, 0); y < Math.min(to, H); y++) {
        winners.set(line, y * W);
        cover.set(part, y * W);
      }
      [shared, weight] = [-1, 0];
    };
    for (let r = rowAt(lo); r < nRows && tops[r] < hi; r++) {
      let from = place(tops[r]);
      const to = place(tops[r + 1]);
      if (shared >= 0 && (shared < from || to - from > 1)) {
        if (shared === from) from++;
        write(shared, shared + 1);
      }
      addRow(r, W, ratio, amount, seen);
      weight += Math.max(rows[r].n_tasks, 1);
      const gap = to - from >= 5 * ratio ? Math.round(ratio) : 0;
      if (to > from) write(from, to - gap);
      else shared = from;
    }
    if (shared >= 0) write(shared, shared + 1);
  };

  picture.render = () => {
    const { context, width, height, ratio } = prepare(canvas);
    layout(context, width, height);
    const W = Math.max(Math.round(picture.area.width * ratio), 1);
    const H = Math.max(Math.round(picture.area.height * ratio), 1);
    const wanted = JSON.stringify([W, H, picture.x, picture.y, byTasks.checked, app.selection.version]);
    if (wanted !== made) {
      made = wanted;
      fill(W, H, ratio);
    }
    colourWinners(surface.resize(W, H), winners, app.phases(), cover);
    surface.show();
    describe();
  };

  picture.paint = () => {
    const { context, width, height } = prepare(canvas);
    paintRows(context, picture, surface, "", layout(context, width, height), app.page);
    drawMark(context);
    drawBox(context, picture, app.page);
  };

  /** @param {CanvasRenderingContext2D} context */
  const drawMark = (context) => {
    const { row, column } = hovered;
    if (row < 0) return;
    const { area } = picture;
    const across = [column - 0.5, column + 0.5].map((at) => Math.min(Math.max(toPixel(picture.x, at, area.width), 0), area.width));
    const down = [tops[row], tops[row + 1]].map((at) => Math.min(Math.max(toPixel(picture.y, at, area.height), 0), area.height));
    context.strokeStyle = app.page.text;
    context.lineWidth = 1.5;
    context.strokeRect(area.x + across[0] - 0.5, area.y + down[0] - 0.5, Math.max(across[1] - across[0], 2) + 1, Math.max(down[1] - down[0], 2) + 1);
    context.lineWidth = 1;
  };

  /**
   * @param {number} row
   * @param {number} column
   */
  const point = (row, column) => {
    if (row < 0) hideTooltip();
    if (row === hovered.row && column === hovered.column) return;
    hovered = { row, column };
    app.schedule(picture, false);
  };

  picture.hover = (x, y, event) => {
    const { area } = picture;
    const at = fromPixel(picture.y, y, area.height);
    if (x < 0 || y < 0 || x >= area.width || y >= area.height || at >= tops[nRows]) return point(-1, 0);
    const row = rowAt(at);
    const column = Math.min(Math.round(fromPixel(picture.x, x, area.width)), nColumns);
    point(row, column);
    const i = symbolAt(row, column - 1);
    const found = i < rowStart[row + 1] && columns[i] === column - 1;
    const { name, n_tasks: n } = rows[row];
    /** @type {[string, string][]} */
    const pairs = [["column", `${count(column)} of ${count(nColumns)}`]];
    if (found) pairs.push(["step of the task", `${count(i - rowStart[row] + 1)} of ${count(rowStart[row + 1] - rowStart[row])}`]);
    pairs.push(["with this sequence", `${count(n)} of ${count(nTasks)} tasks`]);
    const what = found ? labels[label[i]].name : "Gap";
    const perPixel = (picture.x.hi - picture.x.lo) / area.width;
    const aside = perPixel > 1.5 ? `This pixel holds about ${Math.round(perPixel)} columns; zoom in to tell them apart.` : "";
    const tasks = `${n === 1 ? "task" : "tasks"} ${name.length > 120 ? `${name.slice(0, 120)}…` : name}`;
    showTooltip(event, `${what} · ${tasks}`, found ? app.colour(label[i]) : "", pairs, aside);
  };

  const describe = () => {
    const shown = `Columns ${count(Math.ceil(picture.x.lo))}–${count(Math.floor(picture.x.hi))} of ${count(nColumns)}.`;
    const text = `${shown} A pixel has the colour of the phase most tasks have there (of equals, the first), paler with gaps; gaps alone are blank.`;
    byId("alignment-caption").textContent = `${text} ${howToMove(" columns", true)}`;
    canvas.setAttribute("aria-label", `Alignment of phase sequences. ${summary} ${text} ${app.summary()}`);
  };

  /**
   * @param {number} n
   * @param {string} what
   */
  const plural = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
  const summary = `Cluster Sequence Score ${percent(alignment.score ?? NaN)}, ${plural(nColumns, "column")}, ${plural(nRows, "sequence")} of ${plural(nTasks, "task")}. A column holds what tasks do at the same step.`;
  byId("alignment-summary").textContent = summary;
  canvas.style.height = `${Math.min(Math.max(nRows * 20 + 40, 130), 440)}px`;
  // Unless the rarest sequence would be too thin to see.
  byTasks.checked = Math.min(...rows.map((row) => row.n_tasks)) * Math.min(nRows * 20, 400) >= 4 * nTasks;
  byTasks.addEventListener("change", measure);
  measure();
  interact(canvas, picture);
  byId("alignment-buttons").append(...zoomButtons(picture, "Columns", "columns"));
  return picture;
}
