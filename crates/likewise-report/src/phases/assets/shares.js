// How much of each pixel of the timeline is in which group of bursts: from
// the bursts where few are in view, else from sums over time.
//
// The sums hold, for each line of rows and each group, its time before each
// of some thousand moments; of a pixel, however long, the time is a
// difference of two. So a frame takes as long as it has pixels, not bursts.

/** @import { Data, Selection, Shares, Sums } from "./types" */

/** Sums hold at most this many numbers, of four bytes each. */
const MAX_SUMS = 6e6;
const MAX_BINS = 16384;
/** So many bursts in view are drawn one by one. */
const FEW_BURSTS = 60000;

/**
 * Groups that occur, as slots in their order; a last slot is for the bursts
 * that are not chosen.
 * @param {ArrayLike<number>} of
 * @param {number} nGroups
 */
function slotsOf(of, nGroups) {
  const seen = new Uint8Array(nGroups);
  for (let i = 0; i < of.length; i++) seen[of[i]] = 1;
  const slots = new Uint16Array(nGroups);
  /** @type {number[]} */
  const groups = [];
  for (let g = 0; g < nGroups; g++) if (seen[g]) slots[g] = groups.push(g) - 1;
  return { slots, groups };
}

/**
 * @param {Data} data
 * @param {Uint8Array | Uint32Array} of the group of each burst
 * @param {number} nGroups
 * @param {Selection} selection
 * @returns {Shares}
 */
export function makeShares({ meta, n, rowStart, begin, duration, label }, of, nGroups, { bits }) {
  const nRows = meta.rows.length;
  const { slots, groups } = slotsOf(of, nGroups);
  const nSlots = groups.length + 1;
  const weights = Float64Array.from(meta.labels, ({ weight }) => weight);

  /**
   * The first burst of row `r` that may reach time `t`.
   * @param {number} r
   * @param {number} t
   */
  const firstAt = (r, t) => {
    let lo = rowStart[r];
    let hi = rowStart[r + 1];
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (begin[mid] < t) lo = mid + 1;
      else hi = mid;
    }
    return Math.max(lo - 1, rowStart[r]);
  };

  /**
   * Adds the bursts of a row to `amounts[pixel · nSlots + slot]`, in pixels.
   * @param {number} r
   * @param {number} lo
   * @param {number} hi
   * @param {number} W
   * @param {Float32Array | Float64Array} amounts
   */
  const addRow = (r, lo, hi, W, amounts) => {
    const scale = W / (hi - lo);
    const stop = rowStart[r + 1];
    for (let i = firstAt(r, lo); i < stop; i++) {
      const start = begin[i];
      if (start >= hi) break;
      const from = start > lo ? (start - lo) * scale : 0;
      let to = (start + duration[i] - lo) * scale;
      if (to > W) to = W;
      if (to <= from) continue;
      const slot = (bits[i >>> 5] >>> (i & 31)) & 1 ? slots[of[i]] : nSlots - 1;
      const weight = weights[label[i]];
      const a = from | 0;
      const b = to | 0;
      if (a === b) {
        amounts[a * nSlots + slot] += (to - from) * weight;
      } else {
        amounts[a * nSlots + slot] += (a + 1 - from) * weight;
        for (let p = a + 1; p < b; p++) amounts[p * nSlots + slot] += weight;
        if (b < W) amounts[b * nSlots + slot] += (to - b) * weight;
      }
    }
  };

  /** @type {Map<number, Sums>} */
  const kept = new Map();
  /**
   * The sums for lines of `rows` rows.
   * @param {number} rows
   * @returns {Sums}
   */
  const sumsOf = (rows) => {
    let sums = kept.get(rows);
    if (!sums) {
      const lines = Math.ceil(nRows / rows);
      const room = Math.min(MAX_SUMS / (lines * nSlots), MAX_BINS, (4 * n) / lines);
      const bins = 2 ** Math.max(Math.floor(Math.log2(room)), 0);
      const of = new Float32Array(lines * nSlots * (bins + 1));
      const amounts = new Float64Array(nSlots * bins);
      for (let line = 0; line < lines; line++) {
        amounts.fill(0);
        for (let r = line * rows; r < Math.min((line + 1) * rows, nRows); r++) addRow(r, meta.begin, meta.end, bins, amounts);
        addUp(amounts, nSlots, of, line * nSlots * (bins + 1));
      }
      sums = { bins, of };
      kept.set(rows, sums);
    }
    return sums;
  };

  /**
   * @param {number} rows rows of a line
   * @param {number} lo
   * @param {number} hi
   * @param {number} W
   */
  const view = (rows, lo, hi, W) => {
    const length = meta.end - meta.begin;
    const share = Math.min((hi - lo) / length, 1);
    const sums = n * share > FEW_BURSTS ? sumsOf(rows) : null;
    const edges = sums && share * sums.bins >= W ? edgesOf(sums, (lo - meta.begin) / length, (hi - meta.begin) / length, W) : null;
    const amounts = new Float32Array(nSlots * W);
    return {
      amounts,
      /** @param {number} line */
      fill(line) {
        if (edges) return edges(line * nSlots, nSlots, amounts);
        amounts.fill(0);
        for (let r = line * rows; r < Math.min((line + 1) * rows, nRows); r++) addRow(r, lo, hi, W, amounts);
      },
    };
  };
  return { groups, nSlots, firstAt, addRow, view };
}

/**
 * Sums of each slot of `amounts` up to each edge of its bins, slot by slot.
 * @param {Float64Array} amounts
 * @param {number} nSlots
 * @param {Float32Array} out
 * @param {number} at
 */
function addUp(amounts, nSlots, out, at) {
  for (let slot = 0; slot < nSlots; slot++) {
    let sum = 0;
    out[at++] = 0;
    for (let p = slot; p < amounts.length; p += nSlots) {
      sum += amounts[p];
      out[at++] = sum;
    }
  }
}

/**
 * What reads the amounts of a line: differences of its sums at the edges of
 * `W` pixels between two shares of the run.
 * @param {Sums} sums
 * @param {number} from
 * @param {number} to
 * @param {number} W
 */
function edgesOf({ bins, of }, from, to, W) {
  const bin = new Int32Array(W + 1);
  const part = new Float32Array(W + 1);
  const perPixel = ((to - from) * bins) / W;
  const perBin = 1 / perPixel;
  for (let x = 0; x <= W; x++) {
    const at = Math.min(Math.max(from * bins + x * perPixel, 0), bins);
    bin[x] = Math.min(Math.floor(at), bins - 1);
    part[x] = at - bin[x];
  }
  /**
   * @param {number} first
   * @param {number} nSlots
   * @param {Float32Array} amounts
   */
  return (first, nSlots, amounts) => {
    for (let slot = 0; slot < nSlots; slot++) {
      const base = (first + slot) * (bins + 1);
      if (of[base + bin[0]] === of[base + bin[W] + 1]) {
        for (let p = slot; p < W * nSlots; p += nSlots) amounts[p] = 0;
        continue;
      }
      let q = base + bin[0];
      let before = of[q] + part[0] * (of[q + 1] - of[q]);
      for (let x = 0, p = slot; x < W; x++, p += nSlots) {
        q = base + bin[x + 1];
        const after = of[q] + part[x + 1] * (of[q + 1] - of[q]);
        amounts[p] = (after - before) * perBin;
        before = after;
      }
    }
  };
}
