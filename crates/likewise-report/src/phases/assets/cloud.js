// Bursts as points in a bitmap. The bursts of a pixel vote: it takes the
// colour of the group that wins (Boyer and Moore's majority vote), and is
// denser the more there are.

import { makeGrid } from "./grid.js";

/** @import { Cloud, Grouping, Points, Range } from "./types" */

/** The votes of one burst that stands out, as many as of those that step back. */
const LIT_VOTE = 64;
const DIM_ALPHA = 0.13;
/** A cell holds so many votes. */
const MOST = 32767;
/** Votes of a pixel that a disc covers whole, for each it has itself. */
const STEPS = 8;

/**
 * A disc as offsets and coverage, for a radius in pixels of the bitmap.
 * @param {number} radius
 */
function discStamp(radius) {
  if (radius < 0.8) return [[0, 0, 1]];
  const stamp = [];
  const reach = Math.ceil(radius);
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const weight = Math.min(Math.max(radius + 0.5 - Math.hypot(dx, dy), 0), 1);
      if (weight > 0) stamp.push([dx, dy, weight]);
    }
  }
  return stamp;
}

/**
 * Votes of the pixels of a bitmap, and which have any. Of pixel p, `cells[2p]`
 * is the group that leads, plus 65536 for each vote, and `cells[2p + 1]` by
 * how much it leads: beside each other, as reading them is what takes long.
 */
function makeVotes() {
  const votes = {
    cells: new Int32Array(0),
    /** The burst whose colour a pixel has. */
    owner: new Int32Array(0),
    touched: new Int32Array(0),
    n: 0,
    /** @param {number} size */
    clear(size) {
      if (2 * size > votes.cells.length) {
        votes.cells = new Int32Array(2 * size);
        [votes.owner, votes.touched] = [new Int32Array(size), new Int32Array(size)];
      } else {
        const { cells, touched } = votes;
        for (let k = 0; k < votes.n; k++) cells[2 * touched[k]] = 0;
      }
      votes.n = 0;
    },
  };
  return votes;
}

const NOWHERE = { lo: 0, hi: 1, min: 0, max: 1, least: 1 };

/**
 * Draws the points of a scatter; buffers are kept from frame to frame.
 * @returns {Cloud}
 */
export function makeCloud() {
  const single = makeVotes();
  const spread = makeVotes();
  let drawn = single;
  let size = 0;
  let grid = makeGrid(new Float32Array(0), new Float32Array(0), NOWHERE, NOWHERE);

  /** @type {Cloud["draw"]} */
  const draw = (x, y, selection, grouping, W, H, scale, pixels) => {
    single.clear(W * H);
    const n = vote(grid.points(x, y, W, H, selection, grouping.of), grouping, x, y, W, H, single);
    const stamp = discStamp(scale * (n <= 3000 ? 2.6 : n <= 30000 ? 1.8 : n <= 150000 ? 1 : 0.5));
    drawn = stamp.length > 1 ? spread : single;
    if (drawn === spread) {
      spread.clear(W * H);
      spreadVotes(single, spread, stamp, W, H);
    }
    size = W * H;
    const unit = drawn === spread ? STEPS : 1;
    colour(drawn, grouping, (n > 150000 ? 0.7 : 1.3) / unit, pixels);
    return n;
  };
  return {
    draw,
    place(xs, ys, x, y) { grid = makeGrid(xs, ys, x, y); },
    owner: (pixel) => (pixel < size && drawn.cells[2 * pixel] > 0 ? drawn.owner[pixel] : -1),
  };
}

/**
 * Lets points vote for their pixels; returns how many bursts are in view.
 * @param {Points} points
 * @param {Grouping} grouping
 * @param {Range} x
 * @param {Range} y
 * @param {number} W
 * @param {number} H
 * @param {ReturnType<typeof makeVotes>} votes
 */
function vote({ order, px, py, bursts, ranges }, { of, dim }, x, y, W, H, votes) {
  const { cells, owner, touched } = votes;
  const [x0, y0] = [x.lo, y.lo];
  const [sx, sy] = [W / (x.hi - x0), H / (y.hi - y0)];
  const weights = Uint8Array.from(dim, (d) => (d ? 1 : LIT_VOTE));
  let drawn = 0;
  let nTouched = 0;
  for (const [from, to] of ranges) {
    for (let k = from; k < to; k++) {
      const ax = (px[k] - x0) * sx;
      const ay = (py[k] - y0) * sy;
      if (bursts[k] === 0 || ax < 0 || ax >= W || ay < 0 || ay >= H) continue;
      const n = bursts[k];
      drawn += n;
      const p = (H - 1 - (ay | 0)) * W + (ax | 0);
      const g = of[order[k]];
      const w = weights[g] * n;
      const cell = cells[2 * p];
      const lead = cells[2 * p + 1];
      const all = Math.min((cell >> 16) + n, MOST) << 16;
      if (cell === 0) {
        touched[nTouched++] = p;
        cells[2 * p] = all | g;
        cells[2 * p + 1] = w;
        owner[p] = order[k];
      } else if ((cell & 65535) === g) {
        cells[2 * p] = all | g;
        cells[2 * p + 1] = lead + w;
      } else if (w > lead) {
        cells[2 * p] = all | g;
        cells[2 * p + 1] = w - lead;
        owner[p] = order[k];
      } else {
        cells[2 * p] = all | (cell & 65535);
        cells[2 * p + 1] = lead - w;
      }
    }
  }
  votes.n = nTouched;
  return drawn;
}

/**
 * Pixels vote for all that their discs cover, `STEPS` for each vote they have.
 * @param {ReturnType<typeof makeVotes>} from
 * @param {ReturnType<typeof makeVotes>} to
 * @param {number[][]} stamp
 * @param {number} W
 * @param {number} H
 */
function spreadVotes(from, to, stamp, W, H) {
  const { cells, owner, touched } = to;
  let nTouched = 0;
  for (const [dx, dy, weight] of stamp) {
    for (let k = 0; k < from.n; k++) {
      const q = from.touched[k];
      const px = (q % W) + dx;
      const p = q + dy * W + dx;
      if (p < 0 || p >= W * H || px < 0 || px >= W) continue;
      const g = from.cells[2 * q] & 65535;
      const votes = Math.ceil(Math.min(from.cells[2 * q] >>> 16, 1000) * weight * STEPS);
      const w = Math.ceil(Math.min(from.cells[2 * q + 1], 64000) * weight * STEPS);
      const cell = cells[2 * p];
      const lead = cells[2 * p + 1];
      const all = Math.min((cell >> 16) + votes, MOST) << 16;
      if (cell === 0) {
        touched[nTouched++] = p;
        cells[2 * p] = all + g;
        cells[2 * p + 1] = w;
        owner[p] = from.owner[q];
      } else if ((cell & 65535) === g) {
        cells[2 * p] = all + g;
        cells[2 * p + 1] = lead + w;
      } else if (w > lead) {
        cells[2 * p] = all + g;
        cells[2 * p + 1] = w - lead;
        owner[p] = from.owner[q];
      } else {
        cells[2 * p] = all + (cell & 65535);
        cells[2 * p + 1] = lead - w;
      }
    }
  }
  to.n = nTouched;
}

/**
 * @param {ReturnType<typeof makeVotes>} votes
 * @param {Grouping} grouping
 * @param {number} density
 * @param {Uint32Array} pixels
 */
function colour({ cells, touched, n }, { colours, dim }, density, pixels) {
  pixels.fill(0);
  // Up to where nothing shines through.
  const most = Math.ceil(6 / density);
  const alphas = Uint8Array.from({ length: most + 1 }, (_, k) => 255 * (1 - Math.exp(-density * k)));
  for (let k = 0; k < n; k++) {
    const p = touched[k];
    const g = cells[2 * p] & 65535;
    const votes = cells[2 * p] >>> 16;
    const alpha = alphas[Math.min(votes, most)] * (dim[g] ? DIM_ALPHA : 1);
    pixels[p] = (colours[g] & 0xffffff) | (alpha << 24);
  }
}
