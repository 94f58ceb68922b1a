// Opens a report in headless Chromium and checks that it works:
//   node report.mjs [--shot PREFIX] FILE.html...
// With --shot, screenshots are left at PREFIX-NAME-*.png. CHROMIUM names the
// browser, /usr/bin/chromium if it is not set.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { colours, fingerprint, frames, narrow } from "./picture.mjs";
import { checkCounters } from "./counters.mjs";
import { checkMoves, ctrlWheel, placeOf } from "./moves.mjs";
import { checkAxe, checkFindings, checkPaper, checkTabs, checkTheme } from "./page.mjs";
import { checkRanks } from "./ranks.mjs";
import { checkRuns } from "./runs.mjs";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

async function checkDrawn(page, name) {
  const aligned = await page.evaluate(() => Boolean(window.likewise.alignment));
  for (const id of ["scatter", "timeline", ...(aligned ? ["alignment"] : [])]) {
    const seen = await colours(page, id);
    assert.ok(seen.length > 3, `${name}: ${id} is blank`);
  }
}

/** A click on the first phase of the legend hides it in both pictures. */
async function checkLegend(page, name) {
  const before = [await fingerprint(page, "scatter"), await fingerprint(page, "timeline")];
  const item = page.locator(".legend-item").first();
  await item.click();
  await page.mouse.move(1, 1);
  await frames(page);
  assert.equal(await item.getAttribute("aria-pressed"), "false");
  const after = [await fingerprint(page, "scatter"), await fingerprint(page, "timeline")];
  assert.notEqual(after[0], before[0], `${name}: the legend does not change the scatter`);
  assert.notEqual(after[1], before[1], `${name}: the legend does not change the timeline`);
  await item.click();
  await page.mouse.move(1, 1);
  await frames(page);
  assert.equal(await fingerprint(page, "timeline"), before[1], `${name}: a second click does not restore`);

  await item.click({ modifiers: ["Alt"] });
  assert.equal(await page.locator('.legend-item[aria-pressed="true"]').count(), 1, `${name}: Alt-click isolates`);
  await item.dblclick();
  const total = await page.evaluate(() => window.likewise.data.meta.labels.filter((label) => label.kind !== "filtered").length);
  assert.equal(await page.locator('.legend-item[aria-pressed="true"]').count(), total, `${name}: again shows all`);
  await page.locator("#legend-none").click();
  await page.locator("#legend-all").click();
  await page.mouse.move(1, 1);
  await frames(page);
  assert.equal(await fingerprint(page, "timeline"), before[1], `${name}: All after None is not as at first`);
}

/** The pointer over a burst brings a description, in both pictures. */
async function checkHover(page, name) {
  const spot = await page.evaluate(() => {
    const { data, state, scatter, timeline } = window.likewise;
    let i = Math.floor(data.n / 2);
    const value = (metric, log) => {
      const v = metric.values ? metric.values[i] : metric.table[metric.codes[i]];
      return log ? Math.log10(v) : v;
    };
    const has = () => Number.isFinite(value(state.xMetric, state.xLog) + value(state.yMetric, state.yLog));
    for (let k = 0; k < data.n && !has(); k++) i = (i + 1) % data.n;
    const share = (axis, v) => (v - axis.lo) / (axis.hi - axis.lo);
    let row = 0;
    while (data.rowStart[row + 1] <= i) row++;
    return {
      scatter: [share(scatter.x, value(state.xMetric, state.xLog)), 1 - share(scatter.y, value(state.yMetric, state.yLog))],
      timeline: [share(timeline.x, data.begin[i] + data.duration[i] / 2), share(timeline.y, row + 0.5)],
    };
  });
  for (const id of ["scatter", "timeline"]) {
    await page.mouse.move(...(await placeOf(page, id, spot[id])));
    await frames(page);
    assert.ok(await page.locator("#tooltip").isVisible(), `${name}: no tooltip over the ${id}`);
    assert.match(await page.locator("#tooltip").innerText(), /duration/, `${name}: the tooltip over the ${id} says nothing`);
  }
  await page.mouse.move(1, 1);
}

/** Ctrl-wheel, drag and double-click change what is shown, and back. */
async function checkZoom(page, name) {
  for (const id of ["scatter", "timeline"]) {
    const range = () => page.evaluate((id) => JSON.stringify([window.likewise[id].x, window.likewise[id].y]), id);
    const whole = await range();
    const [x, y] = await placeOf(page, id, [0.4, 0.4]);
    await page.mouse.move(x, y);
    await ctrlWheel(page, -400);
    const near = await range();
    assert.notEqual(near, whole, `${name}: the wheel does not zoom the ${id}`);
    await page.mouse.down();
    await page.mouse.move(x - 60, y);
    await page.mouse.up();
    assert.notEqual(await range(), near, `${name}: dragging does not pan the ${id}`);
    await page.mouse.dblclick(x, y);
    assert.equal(await range(), whole, `${name}: a double click does not reset the ${id}`);
    await page.locator(`#${id}`).focus();
    await page.keyboard.press("+");
    assert.notEqual(await range(), whole, `${name}: keys do not zoom the ${id}`);
    await page.keyboard.press("0");
  }
}

async function checkTable(page, name) {
  const bursts = page.locator("#phases thead th").nth(1);
  await bursts.locator("button").click();
  assert.equal(await bursts.getAttribute("aria-sort"), "descending", `${name}: the table does not sort`);
  const before = await fingerprint(page, "timeline");
  // A phase with many bursts and little time stands folded.
  const first = page.locator("#phases tbody tr:visible").first();
  await first.click();
  await page.mouse.move(1, 1);
  await frames(page);
  assert.notEqual(await fingerprint(page, "timeline"), before, `${name}: a row of the table does not highlight its phase`);
  await first.click();
  await page.locator("#phases thead th button").first().click();
}

/** Nodes hold as many bursts as they say, and symbols lie in rising columns. */
async function checkDecoded(page, name) {
  const wrong = await page.evaluate(() => {
    const { tree, alignment, meta } = window.likewise.data;
    const wrong = [];
    const whole = meta.labels.every((label) => label.weight === 1);
    // What a node last held, before it became part of another.
    const held = new Map();
    (tree?.levels ?? []).forEach(({ codes, members }) => {
      const counts = new Float64Array(members.length);
      for (const code of codes) counts[code]++;
      members.forEach((m, k) => held.set(m, counts[k]));
    });
    held.delete(0);
    held.forEach((count, m) => {
      const { instances } = tree.nodes[m - 1];
      if (whole && instances !== count) wrong.push(`node ${m - 1}: ${count} of ${instances}`);
    });
    for (let r = 0; r < (alignment?.rows.length ?? 0); r++) {
      const columns = alignment.columns.subarray(alignment.rowStart[r], alignment.rowStart[r + 1]);
      const rising = columns.every((c, i) => c < alignment.n_columns && (i === 0 || c > columns[i - 1]));
      if (!rising) wrong.push(`row ${r}`);
    }
    return wrong;
  });
  assert.deepEqual(wrong, [], `${name}: the columns are misread`);
}

/** What is chosen in the tree stands out in both pictures, until all is shown again. */
async function checkTree(page, name) {
  const pictures = async () => [await fingerprint(page, "scatter"), await fingerprint(page, "timeline")];
  const settle = async () => {
    await page.mouse.move(1, 1);
    await frames(page);
    return pictures();
  };
  const before = await settle();
  const expectChange = async (what) => {
    const after = await settle();
    assert.ok(await page.locator("#choice").isVisible(), `${name}: ${what} is not told`);
    assert.notEqual(after[0], before[0], `${name}: ${what} does not change the scatter`);
    assert.notEqual(after[1], before[1], `${name}: ${what} does not change the timeline`);
  };
  const expectAll = async (what) => {
    assert.deepEqual(await settle(), before, `${name}: ${what} does not show all again`);
    assert.ok(await page.locator("#choice").isHidden(), `${name}: ${what} leaves the choice`);
  };

  const node = page.locator(".tree-node").first();
  await node.click();
  assert.equal(await node.getAttribute("aria-pressed"), "true");
  await expectChange("a click on a node");
  await node.click();
  await expectAll("a second click on a node");
  await page.locator('.tree-node[tabindex="0"]').focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expectChange("Enter on a node");
  await page.keyboard.press("Escape");
  await expectAll("Escape");
  await page.locator(".tree-level").first().click();
  assert.equal(await page.locator(".tree-level").first().getAttribute("aria-pressed"), "true");
  await expectChange("a level");
  await page.locator("#choice-reset").click();
  await expectAll("'Show all'");

  const shown = await page.locator(".tree-node").count();
  if (!(await page.locator("#tree-small").isVisible())) return;
  await page.locator("#tree-small").check();
  assert.ok((await page.locator(".tree-node").count()) > shown, `${name}: no small nodes`);
  await page.locator("#tree-small").uncheck();
}

/** The alignment follows the pointer, the wheel and the legend. */
async function checkAlignment(page, name) {
  await page.mouse.move(...(await placeOf(page, "alignment", [0.5, 0.05])));
  await frames(page);
  assert.match(await page.locator("#tooltip").innerText(), /column/, `${name}: no tooltip over the alignment`);
  const range = () => page.evaluate(() => JSON.stringify([window.likewise.alignment.x, window.likewise.alignment.y]));
  const whole = await range();
  await ctrlWheel(page, -400);
  assert.notEqual(await range(), whole, `${name}: the wheel does not zoom the alignment`);
  await page.mouse.dblclick(...(await placeOf(page, "alignment", [0.5, 0.5])));
  assert.equal(await range(), whole, `${name}: a double click does not reset the alignment`);
  await page.mouse.move(1, 1);
  await frames(page);
  const before = await fingerprint(page, "alignment");
  await page.locator(".legend-item").first().click();
  await page.mouse.move(1, 1);
  await frames(page);
  assert.notEqual(await fingerprint(page, "alignment"), before, `${name}: the legend does not change the alignment`);
  await page.locator(".legend-item").first().click();
  await page.locator("#alignment-tasks").click();
  await frames(page);
  await checkDrawn(page, name);
  await page.locator("#alignment-tasks").click();
}

/** Every choice of metric and scale draws; at first, half of the bursts or more have what is shown. */
async function checkAxes(page, name) {
  const known = await page.evaluate(() => {
    const { data, state } = window.likewise;
    const value = (metric, i) => (metric.values ? metric.values[i] : metric.table[metric.codes[i]]);
    const share = (metric) => Array.from({ length: data.n }, (_, i) => value(metric, i)).filter(Number.isFinite).length / data.n;
    return [state.xMetric, state.yMetric].map((metric) => (metric.clustering ? 1 : share(metric)));
  });
  assert.ok(Math.min(...known) >= 0.5, `${name}: the first scatter has axes that most bursts have`);
  const options = await page.locator("#scatter-x option").count();
  for (let k = options - 1; k >= 0; k--) {
    await page.locator("#scatter-x").selectOption({ index: k });
    await page.locator("#scatter-x-log").click();
    await frames(page);
    await checkDrawn(page, name);
  }
  await page.locator("#theme").click();
  await frames(page);
  await checkDrawn(page, name);
  await page.locator("#theme").click();
}

async function checkNarrow(page, name) {
  await narrow(page, name);
  await checkDrawn(page, name);
}

async function shoot(page, prefix, name) {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.reload();
  await page.waitForSelector('body[data-ready="1"]', { timeout: 60000 });
  const shot = async (what) => {
    await page.evaluate(() => scrollTo(0, 0));
    await frames(page);
    await page.screenshot({ path: `${prefix}-${name}-${what}.png`, fullPage: true });
  };
  await shot("1280");
  await page.setViewportSize({ width: 390, height: 844 });
  await shot("390");
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  await shot("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.pdf({ path: `${prefix}-${name}.pdf`, format: "A4", printBackground: true });
}

/** A page, and what it complains about. */
async function watched(context, url) {
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) problems.push(`request: ${request.url()}`);
  });
  return { page, problems };
}

async function check(context, file, prefix) {
  const name = basename(file, ".html");
  const url = pathToFileURL(resolve(file)).href;
  const { page, problems } = await watched(context, url);
  const started = performance.now();
  await page.goto(url);
  const opened = () => (performance.now() - started).toFixed(0);
  await page.waitForSelector("#theme:visible", { timeout: 60000 });
  const kind = await page.locator("body").getAttribute("data-kind");
  const kinds = { phases: checkBursts, ranks: checkRanks, counters: checkCounters, pareto: checkCounters, runs: checkRuns };
  const checked = kinds[kind];
  assert.ok(checked, `${name}: a report of no known kind: ${kind}`);
  const told = await checked(page, name, prefix, opened);
  await page.setViewportSize({ width: 1280, height: 900 });
  await checkAxe(page, name);
  await checkTheme(page, name);
  const isDrawn = kind === "phases";
  if (isDrawn) await page.waitForSelector('body[data-ready="1"]', { timeout: 60000 });
  await checkFindings(page, name, isDrawn ? { link: ".finding-phase", row: "#phases tr.focus" } : { link: "#first a[data-phase]", row: "tbody.on" });
  if (kind === "phases" || kind === "ranks") await checkTabs(page, name);
  await checkPaper(page, name);
  assert.deepEqual(problems, [], `${name}: the page complains`);
  console.log(`${name}: ok, ${told}`);
  await page.close();
}

async function checkBursts(page, name, prefix, openedIn) {
  await page.waitForSelector('body[data-ready="1"]', { timeout: 60000 });
  const opened = openedIn();
  await frames(page);
  await checkDrawn(page, name);
  const { bursts, nodes, symbols, phases } = await page.evaluate(() => {
    const { data } = window.likewise;
    const [nodes, symbols] = [data.tree?.nodes.length ?? 0, data.alignment?.symbols ?? 0];
    return { bursts: data.n, nodes, symbols, phases: data.meta.labels.filter((label) => label.kind === "phase").length };
  });
  if (bursts > 1) {
    await checkZoom(page, name);
    await checkHover(page, name);
    await checkLegend(page, name);
    await checkMoves(page, name);
  }
  if (phases > 1) await checkTable(page, name);
  for (const [id, there] of [["tree", nodes > 0], ["alignment", symbols > 0]]) {
    if (there) assert.ok(await page.locator(`#${id}`).isVisible(), `${name}: no ${id}`);
  }
  for (const id of ["tree", "alignment"]) {
    const given = await page.evaluate((id) => Boolean(window.likewise[id]), id);
    if (!given) assert.ok(await page.locator(`#${id}-section`).isHidden(), `${name}: an empty section of the ${id}`);
  }
  await checkDecoded(page, name);
  if (nodes > 1) await checkTree(page, name);
  if (symbols > 0) await checkAlignment(page, name);
  await checkAxes(page, name);
  const redraw = await page.evaluate(() => {
    const start = performance.now();
    window.likewise.redraw();
    return performance.now() - start;
  });
  await checkNarrow(page, name);
  if (prefix) await shoot(page, prefix, name);
  return `${bursts} bursts, open ${opened} ms, redraw ${redraw.toFixed(0)} ms`;
}

const files = process.argv.slice(2);
const shot = files.indexOf("--shot");
const prefix = shot >= 0 ? files.splice(shot, 2)[1] : null;
assert.ok(files.length > 0, "name a report");
const profile = await mkdtemp(join(tmpdir(), "likewise-browser-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: FLAGS,
  viewport: { width: 1280, height: 900 },
});
try {
  for (const file of files) await check(context, file, prefix);
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
}
