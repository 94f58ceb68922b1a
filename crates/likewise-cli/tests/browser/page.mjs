// What holds for every report: rules of accessibility, choices that are kept,
// findings that lead somewhere, paper.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { frames } from "./picture.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
/** Sheets of paper: A4 less 12 mm on each side, at 96 dpi. */
const PAPER = { width: 703, height: 1032 };

/** axe-core finds nothing, whatever the theme. */
export async function checkAxe(page, name) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await frames(page);
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const rules = { "label-content-name-mismatch": { enabled: true } };
      const { violations } = await window.axe.run(document, { rules });
      return violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
    });
    assert.deepEqual(found, [], `${name}: axe-core finds what is wrong, ${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** The theme that was chosen is there when the page is opened again. */
export async function checkTheme(page, name) {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  // Chromium stores after the call has returned: a page that is opened at once may not find it yet.
  const openAgain = async (expected) => {
    const latest = performance.now() + 10000;
    do {
      await page.reload();
      await page.locator("#theme").waitFor({ state: "visible" });
    } while ((await background()) !== expected && performance.now() < latest);
    return background();
  };
  const before = await background();
  await page.locator("#theme").click();
  const chosen = await background();
  assert.notEqual(chosen, before, `${name}: dark is as light`);
  assert.equal(await openAgain(chosen), chosen, `${name}: the theme is not kept`);
  await page.evaluate(() => localStorage.clear());
  assert.equal(await openAgain(before), before, `${name}: the theme does not come back`);
}

/** A finding that names a phase or a class leads to its row, Escape lets it go, and the address keeps it. */
export async function checkFindings(page, name, { link, row }) {
  const first = page.locator(link).first();
  if ((await first.count()) === 0) return;
  await first.click();
  await frames(page);
  const phase = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("phase"));
  const waited = phase ?? (await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("phase"), null, { timeout: 5000 }).then((handle) => handle.jsonValue()));
  assert.ok(waited, `${name}: the address does not keep the phase`);
  const shown = await page.locator(row).first().boundingBox();
  const tall = await page.evaluate(() => innerHeight);
  assert.ok(shown && shown.y + shown.height > 0 && shown.y < tall, `${name}: a finding does not lead to its row`);
  await page.reload();
  await page.locator(row).first().waitFor();
  await page.locator("body").press("Escape");
  await page.waitForFunction(() => !location.hash.includes("phase="), null, { timeout: 5000 });
  assert.equal(await page.locator(row).count(), 0, `${name}: Escape does not let the phase go`);
}

/** The first picture is within ten stops of the Tab key. */
export async function checkTabs(page, name) {
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  for (let stops = 1; stops <= 10; stops++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.tagName === "CANVAS")) return;
  }
  assert.fail(`${name}: no picture within ten stops`);
}

/** On paper the page is light, and nothing is wider than it or out of sight. */
export async function checkPaper(page, name) {
  await page.setViewportSize(PAPER);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await frames(page);
  const found = await page.evaluate((width) => {
    const wide = [...document.querySelectorAll("svg, table, canvas, h1, p")].filter((part) => part.getBoundingClientRect().right > width + 2);
    const cut = [...document.querySelectorAll(".scroll")].filter((part) => getComputedStyle(part).overflowX !== "visible");
    return { page: getComputedStyle(document.documentElement).backgroundColor, wide: wide.map((part) => part.id || part.className.baseVal || part.outerHTML.slice(0, 60)), cut: cut.length };
  }, PAPER.width);
  assert.deepEqual(found, { page: "rgb(255, 255, 255)", wide: [], cut: 0 }, `${name}: paper`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ media: null, colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** No text of a picture is too small to read at the page's width. */
export async function checkText(page, name, least) {
  const small = await page.evaluate((least) => {
    const out = [];
    for (const text of document.querySelectorAll("svg text")) {
      const svg = text.closest("svg");
      if (svg.getBoundingClientRect().width === 0 || !svg.viewBox?.baseVal?.width) continue;
      const size = (parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width) / svg.viewBox.baseVal.width;
      if (size < least) out.push(`${size.toFixed(1)} px: ${text.textContent}`);
    }
    return out.slice(0, 5);
  }, least);
  assert.deepEqual(small, [], `${name}: text that is too small`);
}
