// Which bursts are chosen: one bit per burst, which every picture reads when
// it draws. The legend fills it.

/** @import { Data, Selection } from "./types" */

/**
 * A selection that holds no burst.
 * @param {Data} data
 * @returns {Selection}
 */
export function makeSelection({ n, label, meta }) {
  const bits = new Uint32Array((n + 31) >>> 5);
  const labels = new Uint8Array(meta.labels.length);
  /** @type {Selection} */
  const selection = {
    bits,
    labels,
    version: 0,
    has: (i) => ((bits[i >>> 5] >>> (i & 31)) & 1) === 1,
    fill(which) {
      bits.fill(0);
      labels.fill(0);
      for (let i = 0; i < n; i++) {
        if (!which(i)) continue;
        bits[i >>> 5] |= 1 << (i & 31);
        labels[label[i]] = 1;
      }
      selection.version++;
    },
    fillByLabel(shown) {
      selection.fill((i) => shown[label[i]] === 1);
      // A phase of the alignment may have no burst in the page.
      labels.set(shown);
    },
  };
  return selection;
}
