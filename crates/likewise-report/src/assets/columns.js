// Columns of numbers in a page: compressed byte planes (see encode.rs).

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
function fromBase64(text) {
  if ("fromBase64" in Uint8Array) return /** @type {{ fromBase64(text: string): Uint8Array<ArrayBuffer> }} */ (Uint8Array).fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * The integers of a column, in the given kind of typed array.
 * @template {Uint8Array | Uint16Array | Uint32Array | Float64Array} T
 * @param {{ id: number, width: number }} column
 * @param {number} n
 * @param {new (n: number) => T} Kind
 */
export async function readColumn({ id, width }, n, Kind) {
  const element = document.getElementById(`column-${id}`);
  if (!element) throw new Error(`the page lacks column ${id}`);
  const stream = new Blob([fromBase64(element.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  element.remove();
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (planes.length !== n * width) throw new Error(`column ${id} holds ${planes.length} bytes, not ${n * width}`);
  const out = new Kind(n);
  for (let p = 0, unit = 1; p < width; p++, unit *= 256) {
    const plane = planes.subarray(p * n, (p + 1) * n);
    for (let i = 0; i < n; i++) out[i] += plane[i] * unit;
  }
  return out;
}

/**
 * The number for each code of a quantised column; NaN is missing.
 * @param {{ lo: number, hi: number, log: boolean }} scale
 */
export function decoder({ lo, hi, log }) {
  const table = new Float64Array(65536);
  table[0] = NaN;
  const half = hi / 2 - lo / 2;
  for (let c = 1; c < 65536; c++) {
    table[c] = log ? (c === 1 ? 0 : lo * (hi / lo) ** ((c - 2) / 65533)) : lo + half * ((c - 1) / 65534) * 2;
  }
  return table;
}
