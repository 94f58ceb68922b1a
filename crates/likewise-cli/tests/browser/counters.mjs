// The report of `likewise counters`: a dendrogram, and pictures that need no script.

import assert from "node:assert/strict";
import { frames, narrow, shootWidths } from "./picture.mjs";

const opacity = (part) => part.evaluate((element) => getComputedStyle(element).opacity);

/** Every profile and merge is drawn where something is, and says what it is. */
async function checkTree(page, name) {
  const drawn = await page.evaluate(() => {
    const all = (what) => [...document.querySelectorAll(what)];
    const size = (part) => { const box = part.getBoundingClientRect(); return box.width + box.height; };
    return {
      leaves: all(".tree .leaf").length,
      branches: all(".tree .branch").length,
      flat: all(".tree .branch").filter((part) => size(part) === 0).length,
      untold: all(".tree :is(.leaf, .node)").filter((part) => !part.querySelector("title")?.textContent).length,
      nodes: all(".tree .node").length,
      outlines: all(".tree .outline").length,
      wrong: all("svg *").filter((part) => /NaN|Infinity/.test([...part.attributes].map((a) => a.value).join(" "))).length,
    };
  });
  assert.equal(drawn.branches, drawn.leaves - 1, `${name}: ${drawn.branches} branches of ${drawn.leaves} profiles`);
  assert.equal(drawn.nodes, drawn.branches, `${name}: a merge without its dot`);
  assert.deepEqual([drawn.flat, drawn.untold, drawn.wrong], [0, 0, 0], `${name}: flat, untold, without a place`);
  return drawn;
}

/** What belongs to a key stands out while it is pointed at or has the focus. */
async function checkPick(page, name, key, others) {
  const first = page.locator(key).first();
  const phase = await first.getAttribute("data-phase");
  const other = page.locator(others).and(page.locator(`:not([data-phase="${phase}"])`)).first();
  const before = await opacity(other);
  const away = async () => { await page.mouse.move(1, 1); await frames(page); };
  await first.scrollIntoViewIfNeeded();
  await first.hover();
  await frames(page);
  assert.ok(Number(await opacity(other)) < Number(before), `${name}: nothing steps back behind ${key}`);
  assert.ok((await page.locator(`${others}.on`).count()) > 0, `${name}: nothing belongs to ${key}`);
  await away();
  assert.equal(await opacity(other), before, `${name}: what stepped back does not return`);
}

/** The map covers itself with regions, and each has a row. */
async function checkRegimes(page, name) {
  const found = await page.evaluate(() => {
    const picture = document.querySelector(".map").getBoundingClientRect();
    const regions = [...document.querySelectorAll(".map .region")].map((region) => ({
      phase: region.dataset.phase,
      points: region.querySelectorAll("circle").length,
      box: region.querySelector("rect").getBoundingClientRect(),
    }));
    const rows = [...document.querySelectorAll('section[aria-labelledby="h-regimes"] tbody')].map((row) => row.dataset.phase);
    const inside = regions.every(({ box }) => box.width > 0 && box.height > 0 && box.left >= picture.left && box.right <= picture.right);
    return { phases: regions.map((region) => region.phase), rows, inside, points: regions.map((region) => region.points) };
  });
  assert.deepEqual(found.phases, found.rows, `${name}: regions and rows differ`);
  assert.ok(found.inside, `${name}: a region lies outside of the map`);
  assert.ok(found.points.every((points) => points > 0), `${name}: a region without a point`);
  if (found.phases.length > 1) {
    await checkPick(page, name, 'section[aria-labelledby="h-regimes"] tbody', ".map .region");
  }
  return found.phases.length;
}

export async function checkCounters(page, name, prefix, openedIn) {
  await frames(page);
  const opened = openedIn();
  const has = async (what) => (await page.locator(what).count()) > 0;
  const tree = (await has(".tree")) ? await checkTree(page, name) : { leaves: 0, outlines: 0 };
  if ((await page.locator(".key").count()) > 1) await checkPick(page, name, ".key", ".tree .leaf");
  const regimes = (await has(".map")) ? await checkRegimes(page, name) : 0;
  if (await has("#h-loadings")) {
    const [cells, rows] = [await page.locator(".load").count(), await page.locator('section[aria-labelledby="h-loadings"] tbody').count()];
    assert.ok(rows > 0 && cells % rows === 0, `${name}: ${cells} loadings in ${rows} rows`);
  }
  await narrow(page, name);
  if (prefix) {
    await shootWidths(page, prefix, name);
    await page.pdf({ path: `${prefix}-${name}.pdf`, preferCSSPageSize: true });
  }
  return `${tree.leaves} profiles, ${tree.outlines} strong clusters outlined, ${regimes} regimes, open ${opened} ms`;
}
