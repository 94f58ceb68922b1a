// How long a frame of a report takes while its pictures are zoomed and moved:
//
//   node frames.mjs [--ratio 2] REPORT.html...
//
// A frame is the time from the callback that draws to the next frame of the
// browser, so it holds the script, the rasteriser and what the browser does
// beside. Only frames that draw count. Events are those of a real mouse. While
// the machine does other work, `chrt -r 1 node frames.mjs …` (as root) gives the
// browser the processors.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const files = process.argv.slice(2);
const given = files.indexOf("--ratio");
const ratio = given >= 0 ? Number(files.splice(given, 2)[1]) : 2;
if (files.length === 0) throw new Error("name a report");

/** Runs in the page before its scripts: notes each frame that draws. */
function record() {
  const real = window.requestAnimationFrame.bind(window);
  window.frameTimes = [];
  window.requestAnimationFrame = (draw) => real((now) => {
    const start = performance.now();
    draw(now);
    const script = performance.now() - start;
    real(() => window.frameTimes.push([performance.now() - start, script]));
  });
}

const middle = (sorted, share) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)];
const told = (times) => {
  const sorted = times.toSorted((a, b) => a - b);
  return `median ${middle(sorted, 0.5).toFixed(0)}, 95 % ${middle(sorted, 0.95).toFixed(0)}, most ${sorted.at(-1).toFixed(0)}`;
};

/** What was noted while `act` ran. */
async function measured(page, name, act) {
  await page.waitForTimeout(500);
  await page.evaluate(() => { window.frameTimes.length = 0; });
  await act();
  await page.waitForTimeout(100);
  const times = await page.evaluate(() => window.frameTimes);
  if (times.length === 0) return console.log(`  ${name}: nothing was drawn`);
  const script = told(times.map((t) => t[1]));
  console.log(`  ${name}: frame ms ${told(times.map((t) => t[0]))} (script ${script}; ${times.length} frames)`);
}

async function measurePicture(page, id) {
  const canvas = page.locator(`#${id}`);
  if (!(await canvas.isVisible())) return;
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const [x, y] = [box.x + box.width * 0.55, box.y + box.height * 0.5];
  await page.mouse.move(x, y);
  const wheel = (by, steps) => async () => {
    await page.keyboard.down("Control");
    for (let k = 0; k < steps; k++) await page.mouse.wheel(0, by);
    await page.keyboard.up("Control");
  };
  const pan = (steps) => async () => {
    await page.mouse.down();
    for (let k = 0; k < steps; k++) await page.mouse.move(x - 200 * Math.sin(k / 6), y + 40 * Math.sin(k / 9));
    await page.mouse.up();
  };
  await measured(page, `${id} zoom in`, wheel(-60, 40));
  await measured(page, `${id} pan, near`, pan(40));
  await measured(page, `${id} zoom out`, wheel(60, 40));
  await measured(page, `${id} wheel, whole`, async () => {
    for (let k = 0; k < 12; k++) {
      await wheel(-40, 2)();
      await wheel(40, 2)();
    }
  });
  await wheel(-100, 1)();
  await measured(page, `${id} pan, nearly whole`, pan(40));
  await page.mouse.dblclick(x, y);
}

const profile = await mkdtemp(join(tmpdir(), "likewise-frames-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
  viewport: { width: 1440, height: 900 },
  deviceScaleFactor: ratio,
});
try {
  for (const file of files) {
    const page = await context.newPage();
    await page.addInitScript(record);
    const started = performance.now();
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.waitForSelector('body[data-ready="1"]', { timeout: 60000 });
    const bursts = await page.evaluate(() => window.likewise.data.n);
    console.log(`${basename(file)}: ${bursts} bursts, pixel ratio ${ratio}, open in ${(performance.now() - started).toFixed(0)} ms`);
    for (const id of ["scatter", "timeline", "functions"]) await measurePicture(page, id);
    await page.close();
  }
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
}
