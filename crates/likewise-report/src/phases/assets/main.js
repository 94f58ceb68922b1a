// Puts the page together.

const THEME_MEDIA = matchMedia("(prefers-color-scheme: dark)");

/** What the parts share: data, state, and how a change reaches the screen. */
function makeApp(data) {
  const { labels } = data.meta;
  const state = {
    shown: Uint8Array.from(labels, (label) => (label.kind === "filtered" ? 0 : 1)),
    highlight: -1,
    pinned: -1,
    hover: -1,
    xMetric: null,
    yMetric: null,
    xLog: false,
    yLog: false,
    theme: null,
  };
  const app = { data, state, page: null, parts: [], pictures: [] };
  const dirty = new Map();
  let frame = 0;

  app.theme = () => state.theme ?? (THEME_MEDIA.matches ? "dark" : "light");
  app.colour = (l) => labels[l][app.theme()];
  app.pixelColours = () => pixelColours(labels.map((_, l) => app.colour(l)));
  /** The phase that stands out, or -1. */
  app.focus = () => (state.highlight >= 0 ? state.highlight : state.pinned);
  app.summary = () => {
    const phases = labels.filter((label) => label.kind === "phase").length;
    const shown = labels.filter((_, l) => state.shown[l]).map((label) => label.name);
    return `${phases} phases; shown: ${shown.slice(0, 12).join(", ") || "none"}${shown.length > 12 ? " and more" : ""}.`;
  };

  /** Draws a picture in the next frame; anew, or only what lies on top. */
  app.schedule = (picture, anew = true) => {
    dirty.set(picture, dirty.get(picture) || anew);
    frame ||= requestAnimationFrame(app.flush);
  };
  app.flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    const work = [...dirty];
    dirty.clear();
    for (const [picture, anew] of work) {
      if (anew) picture.render();
      picture.paint();
    }
  };
  app.refresh = () => app.parts.forEach((part) => part.refresh());
  app.update = () => {
    app.refresh();
    app.pictures.forEach((picture) => app.schedule(picture));
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
  app.setTheme = (theme) => {
    state.theme = theme;
    document.documentElement.dataset.theme = app.theme();
    document.getElementById("theme").textContent = app.theme() === "dark" ? "Light" : "Dark";
    app.page = pageColours();
    app.update();
  };
  addGrouping(app);
  return app;
}

function fillPage({ meta }) {
  const set = (id, text) => { document.getElementById(id).textContent = text; };
  set("title", meta.title);
  set("subtitle", meta.subtitle);
  set("version", meta.version);
  const facts = document.getElementById("facts");
  for (const [name, value] of meta.facts) {
    const fact = document.createElement("div");
    fillPairs(fact, [[name, value]]);
    facts.append(fact);
  }
  for (const note of meta.notes) {
    const item = document.createElement("li");
    item.textContent = note;
    document.getElementById("notes").append(item);
  }
  fillPairs(document.getElementById("parameters"), meta.parameters);
  const timings = meta.timings.map(([name, seconds]) => [name, quantity(seconds, "s")]);
  if (timings.length > 1) timings.push(["total", quantity(meta.timings.reduce((sum, t) => sum + t[1], 0), "s")]);
  fillPairs(document.getElementById("timings"), timings);
}

/** The selects and check boxes of the scatter. */
function wireAxes(app, scatter) {
  const { state, data } = app;
  const first = data.metrics.toSorted((a, b) => b.clustering - a.clustering);
  const axes = [["x", first[0]], ["y", first[1] ?? first[0]]];
  for (const [axis, start] of axes) {
    const select = document.getElementById(`scatter-${axis}`);
    const log = document.getElementById(`scatter-${axis}-log`);
    for (const metric of data.metrics) {
      const option = document.createElement("option");
      option.textContent = metric.name;
      select.append(option);
    }
    const choose = (metric, isLog) => {
      state[`${axis}Metric`] = metric;
      state[`${axis}Log`] = log.checked = isLog;
    };
    select.selectedIndex = data.metrics.indexOf(start);
    choose(start, start.log);
    select.addEventListener("change", () => {
      const metric = data.metrics[select.selectedIndex];
      choose(metric, metric.log);
      scatter.choose();
    });
    log.addEventListener("change", () => {
      choose(state[`${axis}Metric`], log.checked);
      scatter.choose();
    });
  }
  scatter.choose();
}

/** Paper is light, whatever the screen. */
function wirePrint(app) {
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = app.state.theme;
    app.setTheme("light");
    app.flush();
  });
  window.addEventListener("afterprint", () => app.setTheme(before));
}

async function main() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it lacks DecompressionStream");
  const data = await readData();
  const app = makeApp(data);
  fillPage(data);
  document.getElementById("report").hidden = false;
  const rows = data.meta.rows.length;
  document.getElementById("timeline").style.height = `${Math.min(Math.max(rows * 18 + 40, 130), 440)}px`;

  const scatter = makeScatter(app);
  const timeline = makeTimeline(app, "timeline", app.grouping, "phase");
  const functions = makeFunctions(app, timeline);
  const curve = makeCurve(app);
  const alignment = makeAlignment(app);
  const tree = makeTree(app);
  app.pictures = [scatter, timeline, functions?.picture, curve, alignment].filter(Boolean);
  app.parts = [makeFindings(app), makeLegend(app), makeTable(app), tree, functions].filter(Boolean);
  wireAxes(app, scatter);
  app.setTheme(null);
  document.getElementById("theme").addEventListener("click", () => app.setTheme(app.theme() === "dark" ? "light" : "dark"));
  THEME_MEDIA.addEventListener("change", () => app.setTheme(app.state.theme));
  const resized = new ResizeObserver((entries) => {
    for (const entry of entries) app.schedule(app.pictures.find((p) => p.canvas === entry.target));
  });
  app.pictures.forEach((picture) => resized.observe(picture.canvas));
  wirePrint(app);
  app.flush();
  window.likewise = { data, state: app.state, scatter, timeline, functions, curve, alignment, tree, redraw: () => { app.update(); app.flush(); } };
  document.body.dataset.ready = "1";
}

main().catch((error) => {
  const failure = document.getElementById("failure");
  failure.textContent = `The report cannot be shown: ${error.message}`;
  failure.hidden = false;
  console.error(error);
});
