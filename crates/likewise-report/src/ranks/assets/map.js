// The map of ranks: one cell per rank, row by row; where they are more than
// fit the page, a cell is several ranks that follow one another.

import { decoder, readColumn } from "../../assets/columns.js";
import { byId, contextOf } from "../../assets/dom.js";
import { count, short } from "../../assets/format.js";
import { themeNow } from "../../assets/theme.js";

const LARGEST = 24;

/** @import { Scale } from "../../phases/assets/types" */
/** @typedef {[number, number, number]} Rgb */

/**
 * @type {{
 *   ranks: number,
 *   drawn: number,
 *   classes: { medoid: number, light: string, dark: string }[],
 *   class: { id: number, width: number },
 *   distance: { id: number, width: number, scale: Scale },
 *   sampled: { id: number, width: number },
 * }}
 */
const meta = JSON.parse(byId("meta").textContent);
const n = meta.ranks;
const classOf = await (meta.classes.length > 256 ? readColumn(meta.class, n, Uint32Array) : readColumn(meta.class, n, Uint8Array));
const distanceOf = await readColumn(meta.distance, n, Uint16Array);
const sampled = await readColumn(meta.sampled, n, Uint8Array);
const distances = decoder(meta.distance.scale);
const farthest = Math.max(...distances.subarray(1).filter(Number.isFinite), 0);

const canvas = byId("map", HTMLCanvasElement);
const scroll = byId("map-scroll");
const space = byId("map-space");
const state = { by: "class", columns: 0, zoom: 0, cursor: -1, picked: -1 };
// Ranks per cell, cells per row, rows, and pixels per cell.
const grid = { per: 1, columns: 1, rows: 1, size: 1 };
let shown = new Uint16Array(0);
/** @type {number[]} */
let colours = [];

/**
 * @param {string} hex
 * @returns {Rgb}
 */
const parse = (hex) => [parseInt(hex.slice(1, 3), 16), parseInt(hex.slice(3, 5), 16), parseInt(hex.slice(5, 7), 16)];
/**
 * @param {Rgb} a
 * @param {Rgb} b
 * @param {number} share of b
 * @returns {Rgb}
 */
const mix = (a, b, share) => /** @type {Rgb} */ (a.map((c, i) => Math.round(c + (b[i] - c) * share)));
/** @param {Rgb} colour */
const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
/** @param {string} name */
const variable = (name) => parse(getComputedStyle(document.documentElement).getPropertyValue(name).trim());

/** The colour of each class, or of each of 256 shares of the largest dissimilarity. */
const readColours = () => {
  const page = variable("--panel");
  if (state.by === "distance") {
    const [grey, strong] = [mix(page, variable("--text"), 0.12), variable("--low")];
    const middle = variable("--notice-line");
    /** @param {number} t */
    const ramp = (t) => (t < 0.5 ? mix(grey, middle, 2 * t) : mix(middle, strong, 2 * t - 1));
    colours = Array.from({ length: 256 }, (_, i) => pack(ramp(i / 255)));
    return;
  }
  const theme = themeNow();
  colours = meta.classes.map((c, i) => {
    const colour = parse(c[theme]);
    return pack(state.picked >= 0 && state.picked !== i ? mix(colour, page, 0.82) : colour);
  });
};

/** Cells of `per` ranks: the class of the fewest ranks, or the largest dissimilarity. */
const cells = () => {
  const { per } = grid;
  const out = new Uint16Array(Math.ceil(n / per));
  const share = distances.map((d) => (farthest > 0 && d > 0 ? Math.round(255 * Math.sqrt(d / farthest)) : 0));
  for (let cell = 0; cell < out.length; cell++) {
    const to = Math.min((cell + 1) * per, n);
    let best = cell * per;
    for (let r = best + 1; r < to; r++) {
      if (state.by === "distance" ? distances[distanceOf[r]] > distances[distanceOf[best]] : rarer(classOf[r], classOf[best])) best = r;
    }
    out[cell] = state.by === "distance" ? share[distanceOf[best]] : classOf[best];
  }
  return out;
};
/**
 * Classes are by descending size.
 * @param {number} a
 * @param {number} b
 */
const rarer = (a, b) => a > b;

/** @param {number} x */
const powerBelow = (x) => 2 ** Math.floor(Math.log2(Math.max(x, 1)));

/** The largest cells with which all ranks fit; rows of a power of two. */
const fit = () => {
  const width = Math.max(scroll.clientWidth, 64);
  const tall = innerWidth < 640 ? 600 : n > 300000 ? 1024 : 420;
  if (state.columns) {
    const size = Math.min(Math.max(Math.floor(width / state.columns), 1), LARGEST);
    return { per: 1, columns: state.columns, size };
  }
  for (let per = 1; ; per *= 2) {
    const all = Math.ceil(n / per);
    for (let size = LARGEST; size >= 1; size--) {
      const columns = Math.min(powerBelow(width / size), powerBelow(2 * all - 1));
      if (Math.ceil(all / columns) * size <= tall) return { per, columns, size };
    }
  }
};

const layout = () => {
  let { per, columns, size } = fit();
  for (let zoom = state.zoom; zoom > 0; zoom--) {
    if (per > 1) per /= 2;
    else size = Math.min(Math.ceil(size * 1.5), 2 * LARGEST);
    if (!state.columns) columns = Math.min(powerBelow(scroll.clientWidth / size), columns * 2);
  }
  const rows = Math.ceil(Math.ceil(n / per) / columns);
  Object.assign(grid, { per, columns, rows, size });
  scroll.classList.toggle("whole", state.zoom === 0 && rows * size <= 1040);
  space.style.width = `${columns * size}px`;
  space.style.height = `${rows * size}px`;
  readColours();
  shown = cells();
  byId("map-out", HTMLButtonElement).disabled = state.zoom === 0;
  byId("map-in", HTMLButtonElement).disabled = per === 1 && size >= 2 * LARGEST;
  caption();
  draw();
};

const caption = () => {
  const { per, columns } = grid;
  const cell = per === 1 ? "A cell is a rank" : `A cell is ${count(per)} ranks, with the colour of ${state.by === "class" ? "the rarest class" : "the largest dissimilarity"} among them`;
  const row = `${count(columns * per)} to a row, the first at the top left`;
  const marks = grid.size >= 5 && per === 1 ? "Ringed: medoids. Dotted: ranks to trace." : "Ringed: medoids.";
  const scale = state.by === "distance" ? ` The darker towards red, the farther (by the square root, up to ${short(farthest)}).` : "";
  byId("map-caption").textContent = `${cell}; ${row}. ${marks}${scale} Arrow keys go from rank to rank, Enter to the medoid.`;
};

let asked = 0;
const draw = () => { if (!asked) asked = requestAnimationFrame(() => { asked = 0; paint(); }); };

const paint = () => {
  const { per, columns, rows, size } = grid;
  const ratio = devicePixelRatio;
  const width = Math.min(scroll.clientWidth, columns * size);
  const height = Math.min(scroll.clientHeight, rows * size);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const [left, top] = [Math.min(scroll.scrollLeft, columns * size - width), Math.min(scroll.scrollTop, rows * size - height)];
  const [x0, y0] = [Math.floor(left / size), Math.floor(top / size)];
  const [x1, y1] = [Math.min(Math.ceil((left + width) / size), columns), Math.min(Math.ceil((top + height) / size), rows)];
  const image = new ImageData(Math.max(x1 - x0, 1), Math.max(y1 - y0, 1));
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = y0, at = 0; y < y1; y++) {
    for (let x = x0; x < x1; x++, at++) {
      const cell = y * columns + x;
      if (cell < shown.length) pixels[at] = colours[shown[cell]];
    }
  }
  const small = new OffscreenCanvas(image.width, image.height);
  small.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, x0 * size - left, y0 * size - top, image.width * size, image.height * size);
  const style = getComputedStyle(document.documentElement);
  if (size >= 9) {
    context.fillStyle = style.getPropertyValue("--panel");
    for (let x = x0; x <= x1; x++) context.fillRect(x * size - left - 0.5, 0, 1, height);
    for (let y = y0; y <= y1; y++) context.fillRect(0, y * size - top - 0.5, width, 1);
  }
  /**
   * @param {number} rank
   * @returns {[number, number]}
   */
  const place = (rank) => {
    const cell = Math.floor(rank / per);
    return [(cell % columns) * size - left + size / 2, Math.floor(cell / columns) * size - top + size / 2];
  };
  const [text, page] = [style.getPropertyValue("--text"), style.getPropertyValue("--page")];
  if (size >= 5 && per === 1) {
    for (let r = y0 * columns; r < Math.min(y1 * columns, n); r++) {
      if (!sampled[r]) continue;
      const [x, y] = place(r);
      dot(context, x, y, Math.max(size / 7, 1.2), text, page);
    }
  }
  meta.classes.slice(0, meta.drawn).forEach((c, i) => {
    if (state.picked >= 0 && state.picked !== i) return;
    ring(context, ...place(c.medoid), Math.max(size / 2 - 1, 4.5), text, page);
  });
  if (state.cursor >= 0) {
    const [x, y] = place(state.cursor);
    const half = Math.max(size / 2 + 1.5, 6);
    context.lineWidth = 3;
    context.strokeStyle = page;
    context.strokeRect(x - half, y - half, 2 * half, 2 * half);
    context.lineWidth = 1.5;
    context.strokeStyle = text;
    context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }
};

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} text
 * @param {string} page
 */
const ring = (context, x, y, radius, text, page) => {
  for (const [width, colour] of /** @type {const} */ ([[3.6, page], [1.6, text]])) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
  }
};

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} text
 * @param {string} page
 */
const dot = (context, x, y, radius, text, page) => {
  for (const [more, colour] of /** @type {const} */ ([[0.9, page], [0, text]])) {
    context.beginPath();
    context.arc(x, y, radius + more, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  }
};

/** @param {MouseEvent} event */
const rankAt = (event) => {
  const box = canvas.getBoundingClientRect();
  const { per, columns, size } = grid;
  const [x, y] = [event.clientX - box.left + scroll.scrollLeft, event.clientY - box.top + scroll.scrollTop];
  const column = Math.floor(x / size);
  const cell = Math.floor(y / size) * columns + column;
  return column < columns && cell >= 0 && cell < shown.length ? cell * per : -1;
};

/** @param {number} rank */
const tell = (rank) => {
  if (rank < 0) {
    byId("map-told").textContent = "";
    return;
  }
  const { per } = grid;
  const to = Math.min(rank + per, n) - 1;
  const cell = Math.floor(rank / per);
  if (per > 1 && state.cursor !== rank) {
    const found = new Map();
    for (let r = cell * per; r <= to; r++) found.set(classOf[r], (found.get(classOf[r]) ?? 0) + 1);
    const parts = [...found].sort((a, b) => a[0] - b[0]).map(([c, k]) => `class ${c + 1}: ${count(k)}`);
    byId("map-told").textContent = `Ranks ${count(rank)} to ${count(to)}: ${parts.join(", ")}`;
    return;
  }
  const c = classOf[rank];
  const { medoid } = meta.classes[c];
  const near = rank === medoid ? "the medoid" : `dissimilarity ≈ ${short(distances[distanceOf[rank]])} to its medoid, rank ${count(medoid)}`;
  byId("map-told").textContent = `Rank ${count(rank)}: class ${c + 1}; ${near}${sampled[rank] ? "; to be traced" : ""}`;
};

/** @param {number} rank */
const go = (rank) => {
  state.cursor = Math.min(Math.max(rank, 0), n - 1);
  const cell = Math.floor(state.cursor / grid.per);
  const [x, y] = [(cell % grid.columns) * grid.size, Math.floor(cell / grid.columns) * grid.size];
  if (y < scroll.scrollTop) scroll.scrollTop = y;
  else if (y + grid.size > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y + grid.size - scroll.clientHeight;
  if (x < scroll.scrollLeft) scroll.scrollLeft = x;
  else if (x + grid.size > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = x + grid.size - scroll.clientWidth;
  tell(state.cursor);
  draw();
};

// What keys reach is said; what the pointer passes is only shown.
const say = () => { byId("map-said").textContent = byId("map-told").textContent; };
canvas.addEventListener("pointermove", (event) => tell(rankAt(event)));
canvas.addEventListener("pointerleave", () => tell(state.cursor));
canvas.addEventListener("click", (event) => {
  const rank = rankAt(event);
  if (rank >= 0) go(rank);
});
canvas.addEventListener("keydown", (event) => {
  const row = grid.columns * grid.per;
  const at = Math.max(state.cursor, 0);
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: at - grid.per, ArrowRight: at + grid.per, ArrowUp: at - row, ArrowDown: at + row, PageUp: at - 10 * row, PageDown: at + 10 * row, Home: 0, End: n - 1, Enter: meta.classes[classOf[at]].medoid };
  if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const to = steps[event.key];
  go(state.cursor < 0 ? 0 : to < 0 || to >= n ? at : to);
  say();
});
scroll.addEventListener("scroll", draw);

/** @param {number} by */
const zoom = (by) => () => {
  const at = state.cursor;
  state.zoom = Math.max(state.zoom + by, 0);
  layout();
  if (at >= 0) go(at);
};
byId("map-in").addEventListener("click", zoom(1));
byId("map-out").addEventListener("click", zoom(-1));
byId("map-fit").addEventListener("click", () => {
  Object.assign(state, { zoom: 0, columns: 0 });
  byId("map-columns", HTMLInputElement).value = "";
  layout();
});
const byField = byId("map-by", HTMLSelectElement);
byField.addEventListener("change", () => {
  state.by = byField.value;
  layout();
});
const columnsField = byId("map-columns", HTMLInputElement);
columnsField.max = String(n);
columnsField.addEventListener("change", () => {
  const columns = Math.floor(Number(columnsField.value));
  state.columns = columns >= 1 ? Math.min(columns, n) : 0;
  layout();
});
const rankField = byId("map-rank", HTMLInputElement);
rankField.max = String(n - 1);
rankField.addEventListener("change", () => { if (rankField.value !== "") go(Math.floor(Number(rankField.value))); });

document.addEventListener("pick", (event) => {
  const { detail } = /** @type {CustomEvent<string | undefined>} */ (event);
  state.picked = detail ? Number(detail.slice(1)) - 1 : -1;
  readColours();
  draw();
});
const repaint = () => { readColours(); draw(); };
new MutationObserver(repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
let width = 0;
new ResizeObserver(() => {
  if (scroll.clientWidth !== width) {
    width = scroll.clientWidth;
    layout();
  } else draw();
}).observe(scroll);
byId("map-part").hidden = false;
