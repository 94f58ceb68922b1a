// Puts the page together.

import { byId } from "../../assets/dom.js";
import { quantity } from "../../assets/format.js";
import { wireAnchors } from "../../assets/hash.js";
import { themeNow, wireTheme } from "../../assets/theme.js";
import { keepChoices, takeChoices } from "./choices.js";
import { makeAlignment } from "./alignment.js";
import { makeCurve } from "./curve.js";
import { metricValue, readData } from "./data.js";
import { makeFindings } from "./findings.js";
import { makeFrames } from "./frames.js";
import { makeFunctions } from "./functions.js";
import { addGrouping } from "./grouping.js";
import { makeLegend } from "./legend.js";
import { makeMap } from "./map.js";
import { makeScatter } from "./scatter.js";
import { makeSelection } from "./selection.js";
import { makeTable } from "./table.js";
import { makeTimeline } from "./timeline.js";
import { fillPairs, hideTooltip } from "./tooltip.js";
import { makeTree } from "./tree.js";
import { phaseWords } from "./words.js";
import { pageColours, pixelColours } from "./view.js";

/** @import { App, Data, Drawn, Metric, Part, State, Scatter } from "./types" */

/**
 * What the parts share: data, state, and how a change reaches the screen.
 * @param {Data} data
 * @returns {App}
 */
function makeApp(data) {
  const { labels } = data.meta;
  const firstShown = () => Uint8Array.from(labels, (label) => (label.kind === "filtered" ? 0 : 1));
  /** @type {State} */
  const state = {
    shown: firstShown(),
    highlight: -1,
    pinned: -1,
    hover: -1,
    xMetric: data.metrics[0],
    yMetric: data.metrics[0],
    xLog: false,
    yLog: false,
    level: -1,
    node: -1,
  };
  const app = /** @type {App} */ ({ data, state, page: pageColours(), parts: /** @type {Part[]} */ ([]), pictures: /** @type {Drawn[]} */ ([]) });
  Object.assign(app, makeFrames(), { selection: makeSelection(data) });
  app.selection.fillByLabel(state.shown);
  app.kept = () => {};
  const { move } = app;
  app.move = (pictures) => {
    move(pictures);
    app.kept();
  };

  app.firstShown = firstShown;
  app.theme = themeNow;
  app.colour = (l) => labels[l][app.theme()];
  app.pixelColours = () => pixelColours(labels.map((_, l) => app.colour(l)));
  /** The phase that stands out, or -1. */
  app.focus = () => (state.highlight >= 0 ? state.highlight : state.pinned);
  app.summary = () => {
    const phases = labels.filter((label) => label.kind === "phase").length;
    const shown = labels.filter((_, l) => state.shown[l]).map((label) => label.name);
    return `${phases} phases; shown: ${shown.slice(0, 12).join(", ") || "none"}${shown.length > 12 ? " and more" : ""}.`;
  };

  app.refresh = () => app.parts.forEach((part) => part.refresh());
  app.update = () => {
    app.refresh();
    app.move(app.pictures);
    app.kept();
  };
  app.highlight = (l) => {
    if (state.highlight === l) return;
    state.highlight = l;
    app.update();
  };
  app.pin = (l) => {
    state.pinned = state.pinned === l ? -1 : l;
    app.update();
  };
  /** The burst under the pointer, marked in both pictures; -1 is none. */
  app.point = (i) => {
    if (i < 0) hideTooltip();
    if (state.hover === i) return;
    state.hover = i;
    app.pictures.forEach((picture) => app.schedule(picture, false));
  };
  app.retheme = () => {
    app.page = pageColours();
    app.update();
    app.settle();
  };
  addGrouping(app);
  return app;
}

/** @param {Data} data */
function fillPage({ meta }) {
  const facts = byId("facts");
  for (const [name, value] of meta.facts) {
    const fact = document.createElement("div");
    fillPairs(fact, [[name, value]]);
    facts.append(fact);
  }
  for (const note of meta.notes) {
    const item = document.createElement("li");
    item.textContent = note;
    byId("warnings").append(item);
  }
  fillPairs(byId("parameters"), meta.parameters);
  /** @type {[string, string][]} */
  const timings = meta.timings.map(([name, seconds]) => [name, quantity(seconds, "s")]);
  if (timings.length > 1) timings.push(["total", quantity(meta.timings.reduce((sum, t) => sum + t[1], 0), "s")]);
  fillPairs(byId("timings"), timings);
}

/**
 * The metrics of the first scatter, across and up: those of the grouping, then others, as far as
 * half of the bursts have them. CPU times of a recording are those of long bursts alone. Where
 * there is no second one, it shows when bursts begin.
 * @param {Data} data
 * @returns {[Metric, Metric]}
 */
function firstAxes(data) {
  const isKnown = (/** @type {Metric} */ metric) => {
    let known = 0;
    for (let i = 0; i < data.n; i++) known += Number(Number.isFinite(metricValue(metric, i)));
    return 2 * known >= data.n;
  };
  const begin = data.metrics[data.metrics.length - 1];
  const others = data.metrics.slice(0, -1).toSorted((a, b) => Number(b.clustering) - Number(a.clustering));
  const [first = others[0] ?? begin, second] = others.filter((metric) => metric.clustering || isKnown(metric));
  return second ? [first, second] : [begin, first];
}

/**
 * The selects and check boxes of the scatter.
 * @param {App} app
 * @param {Scatter} scatter
 */
function wireAxes(app, scatter) {
  const { state, data } = app;
  const [across, up] = firstAxes(data);
  for (const axis of /** @type {const} */ (["x", "y"])) {
    const start = axis === "x" ? across : up;
    const select = byId(`scatter-${axis}`, HTMLSelectElement);
    const log = byId(`scatter-${axis}-log`, HTMLInputElement);
    for (const metric of data.metrics) {
      const option = document.createElement("option");
      option.textContent = metric.name;
      select.append(option);
    }
    /**
     * @param {Metric} metric
     * @param {boolean} isLog
     */
    const choose = (metric, isLog) => {
      if (axis === "x") [state.xMetric, state.xLog] = [metric, isLog];
      else [state.yMetric, state.yLog] = [metric, isLog];
      log.checked = isLog;
    };
    select.selectedIndex = data.metrics.indexOf(start);
    choose(start, start.log);
    select.addEventListener("change", () => {
      const metric = data.metrics[select.selectedIndex];
      choose(metric, metric.log);
      scatter.choose();
    });
    log.addEventListener("change", () => {
      choose(axis === "x" ? state.xMetric : state.yMetric, log.checked);
      scatter.choose();
    });
  }
  scatter.choose();
}

async function main() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it lacks DecompressionStream");
  const data = await readData();
  const app = makeApp(data);
  fillPage(data);
  byId("report").hidden = false;
  const rows = data.meta.rows.length;
  byId("timeline").style.height = `${Math.min(Math.max(rows * 18 + 40, 130), 440)}px`;

  const scatter = makeScatter(app);
  const timeline = makeTimeline(app, "timeline", app.grouping, phaseWords(app));
  const map = makeMap(app, timeline);
  timeline.together.push(map);
  const functions = makeFunctions(app, timeline);
  const curve = makeCurve(app);
  const alignment = makeAlignment(app);
  const tree = makeTree(app);
  app.pictures = [scatter, timeline, map, functions?.picture, curve, alignment].filter((one) => one !== null && one !== undefined);
  app.parts = [makeFindings(app), makeLegend(app), makeTable(app), tree, functions].filter((one) => one !== null);
  wireAxes(app, scatter);
  takeChoices(app, { scatter, timeline });
  wireAnchors();
  wireTheme(app.retheme);
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) app.pictures.filter((p) => p.canvas === target).forEach((p) => app.schedule(p));
  });
  app.pictures.forEach((picture) => resized.observe(picture.canvas));
  keepChoices(app, { scatter, timeline });
  // The tree has an Escape of its own.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    app.point(-1);
    if (app.state.pinned >= 0) app.pin(app.state.pinned);
  });
  // A tap elsewhere puts away what a tap has brought.
  document.addEventListener("pointerdown", (event) => { if (!(event.target instanceof HTMLCanvasElement)) app.point(-1); });
  app.settle();
  window.likewise = { data, state: app.state, scatter, timeline, functions, curve, alignment, tree, selection: app.selection, redraw: () => { app.update(); app.settle(); }, settle: app.settle };
  document.body.dataset.ready = "1";
}

main().catch((error) => {
  const failure = byId("failure");
  failure.textContent = `The report cannot be shown: ${error.message}`;
  failure.hidden = false;
  console.error(error);
});
