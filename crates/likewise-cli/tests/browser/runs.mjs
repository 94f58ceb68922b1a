// The report of `likewise compare`: speed-up and time of every phase.

import assert from "node:assert/strict";
import { frames, narrow, shootWidths } from "./picture.mjs";
import { checkText } from "./page.mjs";

const opacity = (part) => part.evaluate((element) => getComputedStyle(element).opacity);

/** Lines, bars and rows hold the same phases, drawn where something is. */
async function checkDrawn(page, name) {
  const found = await page.evaluate(() => {
    const all = (what) => [...document.querySelectorAll(what)];
    const phases = (what) => [...new Set(all(what).map((part) => part.dataset.phase))].sort();
    return {
      keys: phases(".key"),
      series: phases(".plot .series"),
      rows: phases("#h-phases ~ .scroll tbody"),
      points: all(".series circle").length,
      flat: all(".piece rect").filter((part) => part.getBoundingClientRect().height === 0 && part.closest("svg").getBoundingClientRect().width > 0).length,
      untold: all(".series circle, .piece rect").filter((part) => !part.querySelector("title")?.textContent).length,
      wrong: all("svg *").filter((part) => /NaN|Infinity/.test([...part.attributes].map((a) => a.value).join(" "))).length,
      runs: all("#h-runs ~ .scroll tbody tr").length,
    };
  });
  assert.ok(found.keys.length > 1, `${name}: no phases`);
  assert.deepEqual(found.series, found.keys, `${name}: lines and legend differ`);
  assert.ok(found.keys.every((key) => found.rows.includes(key)), `${name}: a phase without a row`);
  assert.deepEqual([found.flat, found.untold, found.wrong], [0, 0, 0], `${name}: flat, untold, without a place`);
  assert.ok(found.runs > 1 && found.points >= found.keys.length, `${name}: ${found.runs} runs, ${found.points} points`);
  return found;
}

/** A phase under the pointer or the focus stands out; a click keeps it, Escape lets it go. */
async function checkPick(page, name) {
  const [key, other] = [page.locator(".key").nth(1), page.locator(".series.all").first()];
  const before = await opacity(other);
  await key.hover();
  await frames(page);
  assert.ok(Number(await opacity(other)) < Number(before), `${name}: nothing steps back`);
  await key.click();
  await page.mouse.move(1, 1);
  await key.blur();
  await frames(page);
  assert.ok(Number(await opacity(other)) < Number(before), `${name}: a click does not keep the phase`);
  assert.equal(await key.getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Escape");
  await frames(page);
  assert.equal(await opacity(other), before, `${name}: Escape does not let the phase go`);
}

export async function checkRuns(page, name, prefix, openedIn) {
  await frames(page);
  const opened = openedIn();
  const found = await checkDrawn(page, name);
  await checkPick(page, name);
  await checkText(page, name, 8);
  await narrow(page, name);
  await checkText(page, name, 8);
  if (prefix) {
    await shootWidths(page, prefix, name);
    await page.pdf({ path: `${prefix}-${name}.pdf`, preferCSSPageSize: true });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  return `${found.runs} runs, ${found.keys.length - 1} phases, open ${opened} ms`;
}
