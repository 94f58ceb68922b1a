// The colours of the timeline's pixels.

/** @import { Grouping, Look, PageColours, Shares } from "./types" */

/** How much of its colour a group keeps while another stands out. */
const DIM = 34 / 255;

/**
 * A colour as an opaque pixel.
 * @param {string} hex
 */
function pixelOf(hex) {
  const n = parseInt(hex.slice(1), 16);
  return ((n >> 16) | (n & 0xff00) | ((n & 255) << 16) | 0xff000000) >>> 0;
}

/**
 * @param {number} over
 * @param {number} under
 * @param {number} share of the upper one
 */
function mixed(over, under, share) {
  let out = 0xff000000;
  for (const shift of [0, 8, 16]) {
    const [a, b] = [(over >>> shift) & 255, (under >>> shift) & 255];
    out |= Math.round(a * share + b * (1 - share)) << shift;
  }
  return out >>> 0;
}

/**
 * Colours by slot; what stands out lies below all else in a line.
 * @param {Shares} shares
 * @param {Grouping} grouping
 * @param {PageColours} page
 * @returns {Look}
 */
export function makeLook({ groups, nSlots }, { colours, dim }, page) {
  const blank = pixelOf(page.plot);
  const apart = groups.some((g) => dim[g]);
  const opaque = groups.map((g) => (colours[g] | 0xff000000) >>> 0);
  const order = Array.from({ length: nSlots }, (_, slot) => slot);
  if (apart) order.sort((a, b) => Number(a === nSlots - 1) - Number(b === nSlots - 1) || dim[groups[a]] - dim[groups[b]] || a - b);
  return {
    blank,
    idle: pixelOf(page.idle),
    colours: Uint32Array.from([...groups.map((g, slot) => (dim[g] ? mixed(opaque[slot], blank, DIM) : opaque[slot])), blank]),
    lit: Uint8Array.from([...groups.map((g) => (apart && !dim[g] ? 1 : 0)), 0]),
    order: Uint16Array.from(order),
  };
}

/**
 * Black or white, which reads better on a colour.
 * @param {number} colour as bytes of an image, red lowest
 */
export function inkOn(colour) {
  const linear = [0, 8, 16].map((shift) => (((colour >>> shift) & 255) / 255) ** 2.2);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#000000" : "#ffffff";
}
