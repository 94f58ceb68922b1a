// The report of `likewise ranks`: a map of ranks and pictures of their classes.

import assert from "node:assert/strict";
import { colours, fingerprint, frames, narrow, shootWidths } from "./picture.mjs";

const told = (page) => page.locator("#map-told").innerText();

/** Away from everything that listens. */
async function settle(page) {
  await page.mouse.move(1, 1);
  await frames(page);
  return fingerprint(page, "map");
}

/** Each class has its colour on the map, and what is under the pointer is told. */
async function checkMap(page, name, { ranks, classes }) {
  const seen = await colours(page, "map");
  const drawn = Math.min(classes, 20);
  assert.ok(seen.length >= drawn, `${name}: ${seen.length} colours for ${classes} classes`);
  await page.locator("#map").hover({ position: { x: 4, y: 4 } });
  assert.match(await told(page), /^Ranks? \d.*class \d/, `${name}: what is under the pointer is not told`);
  await page.mouse.move(1, 1);
  assert.equal(await told(page), "", `${name}: nothing is under the pointer, and something is told`);
  assert.match(await page.locator("#map-caption").innerText(), /A cell is/);

  // Keys go from rank to rank, and to the medoid.
  await page.locator("#map").focus();
  for (const [key, start] of [["Home", "Rank 0:"], ["End", `Rank ${(ranks - 1).toLocaleString("en-US")}:`]]) {
    await page.keyboard.press(key);
    assert.ok((await told(page)).startsWith(start), `${name}: ${key} tells ${await told(page)}`);
  }
  const far = await told(page);
  await page.keyboard.press("Enter");
  const medoid = await told(page);
  assert.match(medoid, /the medoid/, `${name}: Enter does not go to the medoid`);
  assert.equal(medoid.match(/class \d+/)[0], far.match(/class \d+/)[0], `${name}: the medoid is of another class`);
}

/** Every class of the table is where the map says that it is. */
async function checkMedoids(page, name) {
  const { classes } = await page.evaluate(() => JSON.parse(document.getElementById("meta").textContent));
  for (const [c, { medoid }] of classes.slice(0, 20).entries()) {
    await page.locator("#map-rank").fill(String(medoid));
    await page.locator("#map-rank").press("Tab");
    const says = await told(page);
    assert.ok(says.startsWith(`Rank ${medoid.toLocaleString("en-US")}: class ${c + 1}; the medoid`), `${name}: ${says}`);
  }
}

/** A class under the pointer or the focus stands out on the map and in every picture. */
async function checkPick(page, name) {
  const before = await settle(page);
  const first = page.locator(".key").first();
  await first.hover();
  await frames(page);
  assert.notEqual(await fingerprint(page, "map"), before, `${name}: the legend does not change the map`);
  assert.ok((await page.locator(".panel.on").count()) > 0, `${name}: no panel belongs to the class`);
  assert.equal(await settle(page), before, `${name}: the map does not come back`);
  await first.focus();
  await frames(page);
  assert.notEqual(await fingerprint(page, "map"), before, `${name}: the focus does not change the map`);
  await page.keyboard.press("Escape");
  assert.equal(await settle(page), before, `${name}: Escape does not bring the map back`);
  await first.blur();
}

/** Colour, zoom, ranks per row and theme redraw, and back. */
async function checkControls(page, name, { ranks }) {
  const before = await settle(page);
  await page.locator("#map-by").selectOption("distance");
  assert.notEqual(await settle(page), before, `${name}: dissimilarities have the colours of classes`);
  assert.match(await page.locator("#map-caption").innerText(), /farther/);
  await page.locator("#map-by").selectOption("class");
  assert.equal(await settle(page), before, `${name}: the classes do not come back`);
  const width = () => page.locator("#map-space").evaluate((space) => space.style.width + space.style.height);
  const whole = await width();
  await page.locator("#map-in").click();
  assert.notEqual(await width(), whole, `${name}: + does not zoom`);
  assert.ok((await settle(page)).length > 2, `${name}: blank after zooming`);
  await page.locator("#map-out").click();
  assert.equal(await width(), whole, `${name}: − does not undo +`);
  if (ranks > 7) {
    await page.locator("#map-columns").fill("7");
    await page.locator("#map-columns").press("Tab");
    assert.notEqual(await width(), whole, `${name}: ranks per row change nothing`);
    await page.locator("#map-fit").click();
    assert.equal(await width(), whole, `${name}: Fit does not fit`);
  }
  await page.locator("#theme").click();
  assert.notEqual(await settle(page), before, `${name}: the map is the same on dark`);
  await page.locator("#theme").click();
  assert.equal(await settle(page), before);
}

/** Mean traces with their bands, and dissimilarities, of every class. */
async function checkPanels(page, name, { classes }) {
  const panels = await page.evaluate(() => {
    const width = (part) => part.getBoundingClientRect().width;
    const all = (id, within) => [...document.querySelectorAll(`section[aria-labelledby="${id}"] ${within}`)];
    return {
      traces: all("h-traces", ".panel").length,
      means: all("h-traces", ".mean").filter((line) => width(line) > 0).length,
      bands: all("h-traces", ".band").length,
      distances: all("h-distances", ".panel").length,
      rows: all("h-classes", "tbody tr").length,
      untold: all("h-traces", "svg").filter((svg) => !/class \d/.test(svg.getAttribute("aria-label") ?? "")).length,
      titles: all("h-criterion", "circle title").length,
      wrong: [...document.querySelectorAll("svg [d]")].filter((part) => /NaN|Infinity/.test(part.getAttribute("d"))).length,
    };
  });
  const drawn = Math.min(classes, 20);
  assert.ok(panels.traces >= drawn && panels.traces % drawn === 0, `${name}: ${panels.traces} panels of ${drawn} classes`);
  assert.equal(panels.means, panels.traces, `${name}: a panel without its line`);
  assert.equal(panels.bands, 2 * panels.traces, `${name}: a panel without its bands`);
  assert.equal(panels.distances, drawn, `${name}: dissimilarities of ${panels.distances} classes`);
  assert.ok(panels.rows >= drawn, `${name}: ${panels.rows} rows of classes`);
  assert.deepEqual([panels.untold, panels.wrong], [0, 0], `${name}: pictures without a text, or with no place`);
  return panels;
}

async function checkNarrow(page, name) {
  await narrow(page, name);
  assert.ok((await colours(page, "map")).length > 1, `${name}: the map is blank at 390`);
  await page.setViewportSize({ width: 1280, height: 900 });
}

export async function checkRanks(page, name, prefix, openedIn) {
  await page.locator("#map-part").waitFor({ state: "visible", timeout: 60000 });
  await frames(page);
  await frames(page);
  const opened = openedIn();
  const size = await page.evaluate(() => {
    const meta = JSON.parse(document.getElementById("meta").textContent);
    return { ranks: meta.ranks, classes: meta.classes.length };
  });
  await checkMap(page, name, size);
  await checkMedoids(page, name);
  if (size.classes > 1) await checkPick(page, name);
  await checkControls(page, name, size);
  const panels = await checkPanels(page, name, size);
  await checkNarrow(page, name);
  if (prefix) await shootWidths(page, prefix, name);
  return `${size.ranks} ranks in ${size.classes} classes, ${panels.traces} traces, open ${opened} ms`;
}
