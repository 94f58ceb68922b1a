// What is drawn, on a canvas and on pages of several widths.

import assert from "node:assert/strict";

/** Colours of a canvas with their number of pixels, most frequent first. */
export const colours = (page, id) => page.evaluate((id) => {
  const canvas = document.getElementById(id);
  // A copy, so that reading does not move the picture itself off the GPU.
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (const pixel of new Uint32Array(data.buffer)) seen.set(pixel, (seen.get(pixel) ?? 0) + 1);
  return [...seen].sort((a, b) => b[1] - a[1]);
}, id);

export const fingerprint = async (page, id) => JSON.stringify((await colours(page, id)).slice(0, 2000));
/** All that waits is drawn, also what is out of sight. */
export const frames = (page) => page.evaluate(async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  window.likewise?.settle?.();
});

/** On a telephone nothing but tables and pictures is wider than the page. */
export async function narrow(page, name) {
  await page.setViewportSize({ width: 390, height: 844 });
  await frames(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${name}: the page is ${wide} px wide at 390`);
}

/** The whole page, on a desk and on a telephone. */
export async function shootWidths(page, prefix, name) {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await frames(page);
    await page.screenshot({ path: `${prefix}-${name}-${width}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}
