// The sorted k-distance curve, with eps.

import { byId } from "../../assets/dom.js";
import { percent, quantity, ticks } from "../../assets/format.js";
import { hideTooltip, showTooltip } from "./tooltip.js";
import { drawBottomAxis, drawLeftAxis, prepare, toPixel, widest } from "./view.js";

/** @import { Curve, App, Drawn, PageColours } from "./types" */

/**
 * @param {App} app
 * @returns {Drawn | null}
 */
export function makeCurve(app) {
  const { curve } = app.data.meta;
  return curve && curve.values.length > 0 ? drawnCurve(app, curve) : null;
}

/**
 * @param {App} app
 * @param {Curve} curve
 * @returns {Drawn}
 */
function drawnCurve(app, curve) {
  byId("curve-section").hidden = false;
  const canvas = byId("curve", HTMLCanvasElement);
  const box = byId("curve-log", HTMLInputElement);
  // Rising with the share of bursts, whichever way it came.
  const n = curve.values.length;
  const last = Math.max(curve.ranks[n - 1], 1);
  const falling = (curve.values[0] ?? 0) > (curve.values[n - 1] ?? 0);
  /** @type {[number, number][]} */
  const points = curve.values.map((value, i) => [falling ? 1 - curve.ranks[i] / last : curve.ranks[i] / last, value ?? NaN]);
  if (falling) points.reverse();
  const positive = points.map((p) => p[1]).filter((v) => v > 0);
  const largest = Math.max(curve.eps, ...positive);
  const least = Math.min(curve.eps > 0 ? curve.eps : largest, ...positive);
  box.disabled = positive.length === 0;
  box.checked = positive.length > 0 && largest > 30 * least;
  const covered = points.filter((p) => p[1] <= curve.eps).at(-1)?.[0] ?? 0;

  const picture = { canvas, area: { x: 0, y: 0, width: 1, height: 1 }, render() {}, paint };
  const x = { lo: 0, hi: 100, log: false };
  const y = { lo: 0, hi: 1, log: false };
  /** @type {[number, number] | null} */
  let hovered = null;

  /**
   * @param {[number, number]} point
   * @returns {[number, number]}
   */
  const place = ([share, value]) => {
    const at = y.log ? Math.log10(Math.max(value, 10 ** y.lo)) : value;
    return [picture.area.x + share * picture.area.width, picture.area.y + picture.area.height - toPixel(y, at, picture.area.height)];
  };

  function paint() {
    const { context, width, height } = prepare(canvas);
    const colours = app.page;
    y.log = box.checked;
    [y.lo, y.hi] = y.log ? [Math.log10(least) - 0.1, Math.log10(largest) + 0.1] : [0, (largest || 1) * 1.05];
    const marks = ticks(y, "", (height - 60) / 40);
    const gutter = widest(context, marks.map((m) => m.text)) + 12;
    picture.area = { x: gutter, y: 20, width: width - gutter - 12, height: height - 62 };
    const { area } = picture;
    context.fillStyle = colours.plot;
    context.fillRect(area.x, area.y, area.width, area.height);
    drawLeftAxis(context, area, y, marks, colours);
    drawBottomAxis(context, area, x, "%", colours);
    context.strokeStyle = colours.line;
    context.strokeRect(area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
    context.fillStyle = colours.text;
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(`distance to the ${ordinal(curve.k)} neighbour`, area.x, 3);
    context.textAlign = "right";
    context.fillText("share of bursts", area.x + area.width, height - 15);
    drawCurve(context, colours);
    drawEps(context, colours);
    if (hovered) dot(context, place(hovered), colours.text);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {PageColours} colours
   */
  const drawCurve = (context, colours) => {
    context.beginPath();
    for (const point of points) {
      if (Number.isFinite(point[1])) context.lineTo(...place(point));
    }
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.75;
    context.stroke();
    context.lineWidth = 1;
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {PageColours} colours
   */
  const drawEps = (context, colours) => {
    if (!(curve.eps > 0)) return;
    const { area } = picture;
    const [, at] = place([0, curve.eps]);
    context.setLineDash([5, 4]);
    context.strokeStyle = colours.text;
    context.beginPath();
    context.moveTo(area.x, Math.round(at) + 0.5);
    context.lineTo(area.x + area.width, Math.round(at) + 0.5);
    context.stroke();
    context.setLineDash([]);
    dot(context, place([covered, curve.eps]), colours.accent);
    context.fillStyle = colours.text;
    context.textAlign = "left";
    context.textBaseline = at - area.y > 20 ? "bottom" : "top";
    context.fillText(`eps = ${Number(curve.eps.toPrecision(4))}`, area.x + 8, at - (at - area.y > 20 ? 4 : -5));
  };

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {[number, number]} at
   * @param {string} colour
   */
  const dot = (context, [px, py], colour) => {
    context.beginPath();
    context.arc(px, py, 4, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  };

  canvas.addEventListener("pointermove", (event) => {
    const share = (event.clientX - canvas.getBoundingClientRect().left - picture.area.x) / picture.area.width;
    hovered = points.reduce((best, p) => (Math.abs(p[0] - share) < Math.abs(best[0] - share) ? p : best));
    app.schedule(picture, false);
    showTooltip(event, quantity(hovered[1]), "", [["bursts below", percent(hovered[0])]]);
  });
  canvas.addEventListener("pointerleave", () => {
    hovered = null;
    hideTooltip();
    app.schedule(picture, false);
  });
  box.addEventListener("change", () => app.schedule(picture, false));
  const origin = curve.suggested ? "suggested by the curve" : "given";
  const text = `eps ${Number(curve.eps.toPrecision(4))}, ${origin}: ${percent(covered)} of the bursts have their ${ordinal(curve.k)} neighbour within it. ${curve.rule}`;
  byId("curve-caption").textContent = text;
  canvas.setAttribute("aria-label", `Sorted distances to the ${ordinal(curve.k)} neighbour. ${text}`);
  return picture;
}

/**
 * `1st`, `4th`, `12th`.
 * @param {number} k
 */
function ordinal(k) {
  const ending = k % 100 >= 11 && k % 100 <= 13 ? "th" : ["th", "st", "nd", "rd"][k % 10] ?? "th";
  return `${k}${ending}`;
}
