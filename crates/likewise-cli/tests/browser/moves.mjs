// How a reader moves the pictures of a page of phases, and what the timeline
// tells: shares, names, the map of the run, the chosen bursts.

import assert from "node:assert/strict";
import { frames } from "./picture.mjs";

/** Where a share of a picture's area is, in page coordinates. */
export async function placeOf(page, id, share) {
  await page.locator(`#${id}`).scrollIntoViewIfNeeded();
  const box = await page.locator(`#${id}`).boundingBox();
  const area = await page.evaluate((id) => window.likewise[id].area, id);
  return [box.x + area.x + area.width * share[0], box.y + area.y + area.height * share[1]];
}

/** Shows all of a picture, and waits for it. */
const reset = (page, id) => page.evaluate((id) => { window.likewise[id].reset(); window.likewise.settle(); }, id);
const rangeOf = (page, id) => page.evaluate((id) => JSON.stringify([window.likewise[id].x, window.likewise[id].y]), id);

export async function ctrlWheel(page, by) {
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, by);
  await page.keyboard.up("Control");
  await frames(page);
}

/** The wheel scrolls the page, and zooms only with Ctrl, within limits. */
async function checkWheel(page, name, id) {
  await reset(page, id);
  const whole = await rangeOf(page, id);
  await page.mouse.move(...(await placeOf(page, id, [0.4, 0.4])));
  const before = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, before > 100 ? -80 : 80);
  await page.waitForFunction((before) => scrollY !== before, before, { timeout: 5000 });
  // It glides.
  let last = NaN;
  for (let now = before; now !== last; now = await page.evaluate(() => scrollY)) {
    last = now;
    await page.waitForTimeout(100);
  }
  assert.equal(await rangeOf(page, id), whole, `${name}: the wheel without Ctrl zooms the ${id}`);
  assert.match(await page.locator(".wheel-hint").innerText(), /Hold Ctrl/, `${name}: no hint over the ${id}`);
  const [x, y] = await placeOf(page, id, [0.4, 0.4]);
  await page.mouse.move(x, y);
  await ctrlWheel(page, -400);
  assert.notEqual(await rangeOf(page, id), whole, `${name}: Ctrl-wheel does not zoom the ${id}`);
  for (let k = 0; k < 20; k++) await ctrlWheel(page, 1000);
  const far = await page.evaluate((id) => {
    const { x, y } = window.likewise[id];
    return [x, y].every(({ lo, hi, min, max }) => lo >= min && hi <= max);
  }, id);
  assert.ok(far, `${name}: the ${id} zooms out of its limits`);
  await page.mouse.move(x, y);
  await page.mouse.dblclick(x, y);
  assert.equal(await rangeOf(page, id), whole, `${name}: a double click does not reset the ${id}`);
}

/** W, A, S, D, arrows, + and − move the focused picture. */
async function checkKeys(page, name, id) {
  const whole = await rangeOf(page, id);
  await page.locator(`#${id}`).focus();
  let last = whole;
  for (const key of ["w", "d", "+", "ArrowLeft", "a", "-"]) {
    await page.keyboard.press(key);
    const now = await rangeOf(page, id);
    assert.notEqual(now, last, `${name}: ${key} does not move the ${id}`);
    last = now;
  }
  await page.keyboard.press("0");
  assert.equal(await rangeOf(page, id), whole, `${name}: 0 does not reset the ${id}`);
}

/** Two fingers zoom, one taps. */
async function checkTouch(page, name, id) {
  const whole = await rangeOf(page, id);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  const touch = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const [x, y] = await placeOf(page, id, [0.5, 0.5]);
  await touch("touchStart", [[x - 20, y]]);
  await touch("touchStart", [[x - 20, y], [x + 20, y]]);
  for (let k = 1; k <= 6; k++) await touch("touchMove", [[x - 20 - 8 * k, y], [x + 20 + 8 * k, y]]);
  await touch("touchEnd", []);
  await frames(page);
  const span = await page.evaluate((id) => { const { lo, hi, min, max } = window.likewise[id].x; return (hi - lo) / (max - min); }, id);
  assert.ok(span < 0.7, `${name}: two fingers do not zoom the ${id}`);
  await reset(page, id);
  assert.equal(await rangeOf(page, id), whole);
  const spot = await placeOf(page, id, id === "timeline" ? [0.5, 0.5] : await burstInScatter(page));
  await touch("touchStart", [spot]);
  await touch("touchEnd", []);
  await frames(page);
  assert.ok(await page.locator("#tooltip").isVisible(), `${name}: a tap on the ${id} tells nothing`);
  await session.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  await session.detach();
  await page.mouse.move(1, 1);
  await page.evaluate(() => document.body.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true })));
  assert.ok(await page.locator("#tooltip").isHidden(), `${name}: a tap elsewhere leaves the tooltip`);
}

/** Where some burst is in the scatter, as shares of its area. */
const burstInScatter = (page) => page.evaluate(() => {
  const { data, state, scatter, selection } = window.likewise;
  const at = (metric, log, i) => {
    const v = metric.values ? metric.values[i] : metric.table[metric.codes[i]];
    return log ? Math.log10(v) : v;
  };
  const share = (axis, v) => (v - axis.lo) / (axis.hi - axis.lo);
  const place = (i) => [share(scatter.x, at(state.xMetric, state.xLog, i)), 1 - share(scatter.y, at(state.yMetric, state.yLog, i))];
  let i = Math.floor(data.n / 2);
  while (!selection.has(i) || !place(i).every(Number.isFinite)) i = (i + 1) % data.n;
  return place(i);
});

/** Of the timeline's pixels, each phase and idle have about their share of the time. */
async function checkShares(page, name) {
  const wrong = await page.evaluate(() => {
    const { data, timeline, selection } = window.likewise;
    window.likewise.settle();
    const { meta, label, duration } = data;
    const { look, shares } = timeline.drawn();
    const time = new Float64Array(meta.labels.length);
    for (let i = 0; i < data.n; i++) if (selection.has(i)) time[label[i]] += duration[i] * meta.labels[label[i]].weight;
    const canvas = timeline.canvas;
    const ratio = canvas.width / canvas.clientWidth;
    const { x, y, width, height } = timeline.area;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data: bytes } = copy.getImageData(Math.ceil(x * ratio) + 1, Math.ceil(y * ratio) + 1, Math.floor(width * ratio) - 2, Math.floor(height * ratio) - 2);
    const seen = new Map();
    for (const pixel of new Uint32Array(bytes.buffer)) seen.set(pixel, (seen.get(pixel) ?? 0) + 1);
    // Gaps between rows, and texts, are none of them.
    const known = [look.idle, ...shares.groups.map((_, slot) => look.colours[slot])];
    const all = [...new Set(known)].reduce((sum, colour) => sum + (seen.get(colour) ?? 0), 0);
    const expected = new Map([[look.idle, Math.max(1 - time.reduce((a, b) => a + b) / (meta.rows.length * meta.end), 0)]]);
    shares.groups.forEach((l, slot) => {
      const share = time[l] / (meta.rows.length * meta.end);
      expected.set(look.colours[slot], (expected.get(look.colours[slot]) ?? 0) + share);
    });
    const off = [...expected].map(([colour, share]) => [colour.toString(16), share, (seen.get(colour) ?? 0) / all]);
    return off.filter(([, share, drawn]) => Math.abs(share - drawn) > 0.02);
  });
  assert.deepEqual(wrong, [], `${name}: colours of the timeline are not in proportion (colour, share of the time, share of the pixels)`);
}

/** What is under the pointer is told in one line; idle has its entry. */
async function checkWords(page, name) {
  const spot = await page.evaluate(() => {
    const { data, timeline, selection } = window.likewise;
    let i = Math.floor(data.n / 2);
    while (!selection.has(i)) i++;
    let row = 0;
    while (data.rowStart[row + 1] <= i) row++;
    return [(data.begin[i] + data.duration[i] / 2) / timeline.x.max, (row + 0.5) / timeline.y.max];
  });
  await page.mouse.move(...(await placeOf(page, "timeline", spot)));
  await frames(page);
  const told = await page.locator(".tooltip-head").innerText();
  assert.match(told, /(task|thread) [\d.]+ · (phase \d+|noise|\S.*) · .*[\d.]+ (s|ms|µs|ns)$/, `${name}: the tooltip of the timeline says '${told}'`);
  await page.mouse.move(1, 1);
  assert.match(await page.locator(".legend-idle").innerText(), /Idle or MPI/, `${name}: idle is not in the legend`);
}

/** The map moves what the timeline shows. */
async function checkMap(page, name) {
  await page.evaluate(() => {
    const { timeline } = window.likewise;
    [timeline.x.lo, timeline.x.hi] = [0.4 * timeline.x.max, 0.5 * timeline.x.max];
    timeline.changed();
    window.likewise.settle();
  });
  await page.locator("#timeline-map").scrollIntoViewIfNeeded();
  const box = await page.locator("#timeline-map").boundingBox();
  const area = await page.evaluate(() => window.likewise.timeline.area);
  const at = (share) => [box.x + area.x + share * area.width, box.y + box.height / 2];
  const middle = () => page.evaluate(() => { const { lo, hi, max } = window.likewise.timeline.x; return (lo + hi) / 2 / max; });
  await page.mouse.move(...at(0.45));
  await page.mouse.down();
  await page.mouse.move(...at(0.55));
  await page.mouse.move(...at(0.65));
  await page.mouse.up();
  assert.ok(Math.abs((await middle()) - 0.65) < 0.02, `${name}: a drag on the map does not move the window: ${await middle()}`);
  await page.mouse.dblclick(...at(0.65));
  await frames(page);
  assert.ok(await page.evaluate(() => { const { lo, hi, min, max } = window.likewise.timeline.x; return lo === min && hi === max; }), `${name}: a double click on the map does not show all`);
}

/** One bit per burst tells what is chosen; the legend fills it. */
async function checkSelection(page, name) {
  const counted = () => page.evaluate(() => {
    const { data, state, selection } = window.likewise;
    let [bits, labels] = [0, 0];
    for (let i = 0; i < data.n; i++) {
      bits += (selection.bits[i >>> 5] >>> (i & 31)) & 1;
      labels += state.shown[data.label[i]];
    }
    return [bits, labels];
  });
  const all = await counted();
  assert.equal(all[0], all[1], `${name}: the selection is not what the legend says`);
  await page.locator(".legend-item").first().click();
  const fewer = await counted();
  assert.ok(fewer[0] < all[0] && fewer[0] === fewer[1], `${name}: the legend does not choose`);
  await page.locator(".legend-item").first().click();
  await page.mouse.move(1, 1);
}

export async function checkMoves(page, name) {
  for (const id of ["scatter", "timeline"]) {
    await checkWheel(page, name, id);
    await checkKeys(page, name, id);
    await checkTouch(page, name, id);
  }
  await checkShares(page, name);
  await checkWords(page, name);
  await checkMap(page, name);
  await checkSelection(page, name);
}
