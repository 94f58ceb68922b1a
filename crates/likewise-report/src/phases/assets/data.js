// The data in the page: one JSON object, and columns (see columns.js).

import { byId } from "../../assets/dom.js";
import { decoder, readColumn } from "../../assets/columns.js";

/** @import { Column, Alignment, Data, Meta, Metric } from "./types" */

/**
 * Everything the pictures draw. Bursts are sorted by row, then begin; those
 * of row r are `rowStart[r]` to `rowStart[r + 1]`. Times are nanoseconds.
 * @returns {Promise<Data>}
 */
export async function readData() {
  /** @type {Meta} */
  const meta = JSON.parse(byId("meta").textContent);
  const n = meta.bursts;
  const { columns } = meta;
  const perRow = await readColumn(columns.per_row, meta.rows.length, Uint32Array);
  const label = await (meta.labels.length > 256 ? readColumn(columns.label, n, Uint32Array) : readColumn(columns.label, n, Uint8Array));
  const begin = await readColumn(columns.begin, n, Float64Array);
  const duration = await readColumn(columns.duration, n, Float64Array);

  const rowStart = new Uint32Array(perRow.length + 1);
  for (let r = 0; r < perRow.length; r++) {
    rowStart[r + 1] = rowStart[r] + perRow[r];
    for (let i = rowStart[r] + 1; i < rowStart[r + 1]; i++) begin[i] += begin[i - 1];
  }
  for (let i = 0; i < n; i++) begin[i] *= meta.tick;
  if (columns.duration.scale) {
    const table = decoder(columns.duration.scale);
    for (let i = 0; i < n; i++) duration[i] = table[duration[i]];
  }

  /** @type {Metric[]} */
  const metrics = [];
  for (const metric of meta.metrics) {
    const codes = await readColumn(metric.column, n, Uint16Array);
    metrics.push({ ...metric, codes, table: scaleOf(metric.column) });
  }
  metrics.push({ name: "duration", unit: "ns", ...meta.duration, values: duration, rounded: Boolean(columns.duration.scale) });
  metrics.push({ name: "begin", unit: "ns", log: false, clustering: false, values: begin, rounded: meta.tick > 1 });
  const alignment = await readAlignment(meta);
  const tree = await readTree(meta);
  const functions = await readFunctions(meta);
  return { meta, n, label, begin, duration, rowStart, metrics, alignment, tree, functions };
}

/**
 * A place per burst, and by that a function.
 * @param {Meta} meta
 */
async function readFunctions({ functions, bursts }) {
  if (!functions) return null;
  const place = await readColumn(functions.column, bursts, Uint32Array);
  const codes = Uint8Array.from(place, (p) => functions.function_of_place[p]);
  return { ...functions, place, codes };
}

/** @param {Column} column */
function scaleOf({ id, scale }) {
  if (!scale) throw new Error(`column ${id} has no scale`);
  return decoder(scale);
}

/**
 * Sequences one after the other; those of row r are `rowStart[r]` to `rowStart[r + 1]`.
 * @param {Meta} meta
 * @returns {Promise<Alignment | null>}
 */
async function readAlignment({ alignment, labels }) {
  if (!alignment) return null;
  const counts = await readColumn(alignment.columns.counts, alignment.rows.length, Uint32Array);
  const read = alignment.columns.labels;
  const label = await (labels.length > 256 ? readColumn(read, alignment.symbols, Uint32Array) : readColumn(read, alignment.symbols, Uint8Array));
  const columns = await readColumn(alignment.columns.blanks, alignment.symbols, Uint32Array);
  const rowStart = new Uint32Array(counts.length + 1);
  for (let r = 0; r < counts.length; r++) {
    rowStart[r + 1] = rowStart[r] + counts[r];
    for (let i = rowStart[r] + 1; i < rowStart[r + 1]; i++) columns[i] += columns[i - 1] + 1;
  }
  return { ...alignment, rowStart, columns, label };
}

/**
 * Levels with the member of each burst (see sections.rs): `members[codes[i]]` is its node + 1.
 * @param {Meta} meta
 */
async function readTree({ tree, bursts }) {
  if (!tree) return null;
  /** @type {Uint8Array | Uint32Array | null} */
  let before = null;
  for (const level of tree.levels) {
    const codes = await (level.members.length < 255 ? readColumn(level.column, bursts, Uint8Array) : readColumn(level.column, bursts, Uint32Array));
    for (let i = 0; i < bursts; i++) codes[i] = codes[i] ? codes[i] - 1 : level.expected[before ? before[i] : 0];
    before = level.codes = codes;
  }
  return tree;
}

/**
 * @param {Metric} metric
 * @param {number} i
 */
export function metricValue(metric, i) {
  return metric.values ? metric.values[i] : metric.table[metric.codes[i]];
}

/**
 * A metric as positions on an axis, NaN where it has none.
 * @param {Metric} metric
 * @param {boolean} log
 * @param {number} n
 */
export function positions(metric, log, n) {
  const out = new Float32Array(n);
  /** @param {number} v */
  const place = (v) => (!log ? v : v > 0 ? Math.log10(v) : NaN);
  if (metric.values) {
    for (let i = 0; i < n; i++) out[i] = place(metric.values[i]);
  } else {
    const table = Float32Array.from(metric.table, place);
    for (let i = 0; i < n; i++) out[i] = table[metric.codes[i]];
  }
  return out;
}

/**
 * The row of burst `i`.
 * @param {Data} data
 * @param {number} i
 */
export function rowOf(data, i) {
  let [lo, hi] = [0, data.rowStart.length - 1];
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (data.rowStart[mid] <= i) lo = mid;
    else hi = mid;
  }
  return lo;
}
