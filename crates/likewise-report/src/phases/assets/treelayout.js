// Where the nodes of the tree are drawn: a column per level, and in it a lane
// per phase, so that what becomes a phase stands at its height all along.

/** @import { TreeLevel, Place, Tree } from "./types" */

const SMALL_SHARE = 0.005;
const LARGE_PER_LEVEL = 24;
const NODE_GAP = 5;
/** Pixels from one dot to the next, where they are few and where they are many. */
const DOT_PITCH = [12, 8];
const MANY_DOTS = 500;
/** Below it a tree would have no room for its boxes. */
const MIN_WIDTH = 260;

/**
 * Nodes of each level, longest first; the first `large` of them get boxes.
 * @param {Tree} tree
 * @returns {TreeLevel[]}
 */
export function treeLevels({ levels, nodes, total }) {
  /** @type {TreeLevel[]} */
  const out = levels.map(() => ({ order: [], large: 0 }));
  nodes.forEach((node, i) => out[node.level].order.push(i));
  for (const level of out) {
    level.order.sort((a, b) => nodes[b].total - nodes[a].total || a - b);
    const least = SMALL_SHARE * total;
    const small = level.order.findIndex((i) => nodes[i].total < least);
    level.large = Math.min(small < 0 ? level.order.length : small, LARGE_PER_LEVEL);
  }
  return out;
}

/**
 * @param {Map<number, Place>} places
 * @param {number} i a node that has a place
 */
export const placeOf = (places, i) => /** @type {Place} */ (places.get(i));

/**
 * Boxes and dots in a width: `places[node]` is `{ x, y, width, height, dot }`,
 * or missing for a node that is not shown.
 * @param {Tree} tree
 * @param {TreeLevel[]} levels
 * @param {number} available
 * @param {boolean} showSmall
 */
export function layoutTree(tree, levels, available, showSmall) {
  const { nodes, total } = tree;
  // Where not all levels fit, a cut one shows that there are more.
  const fit = Math.max(available, MIN_WIDTH) / 168;
  const column = fit >= levels.length ? Math.min(Math.max(available, MIN_WIDTH) / levels.length, 250)   : Math.max(available, MIN_WIDTH) / (Math.max(Math.floor(fit - 0.6), 1) + 0.6);
  const width = column - 46;
  /** @type {Map<number, Place>} */
  const places = new Map();
  /** @type {Map<number, number>} */
  const lanes = new Map();
  /** @param {number} i */
  const tall = (i) => Math.max(20, (nodes[i].total / total) * 340);
  /** @param {number} i */
  const laneOf = (i) => nodes[i].main ?? -1;
  levels.forEach((level) => {
    const height = new Map();
    for (const i of level.order.slice(0, level.large)) {
      height.set(laneOf(i), (height.get(laneOf(i)) ?? -NODE_GAP) + tall(i) + NODE_GAP);
    }
    for (const [lane, h] of height) lanes.set(lane, Math.max(lanes.get(lane) ?? 0, h));
  });
  let y = 6;
  const tops = new Map();
  for (const lane of [...lanes.keys()].sort((a, b) => a - b)) {
    tops.set(lane, y);
    y += (lanes.get(lane) ?? 0) + 2 * NODE_GAP;
  }
  const bottom = y;

  /** @param {number} i */
  const middle = (i) => placeOf(places, i).y + placeOf(places, i).height / 2;
  levels.forEach((level, l) => {
    const boxes = level.order.slice(0, level.large);
    for (const lane of new Set(boxes.map(laneOf))) {
      const members = boxes.filter((i) => laneOf(i) === lane);
      const from = new Map(members.map((i) => [i, meanOf(nodes[i].parents.filter((p) => places.get(p)?.dot === false).map(middle))]));
      members.sort((a, b) => (from.get(a) ?? 0) - (from.get(b) ?? 0) || nodes[b].total - nodes[a].total || a - b);
      const height = members.reduce((sum, i) => sum + tall(i) + NODE_GAP, -NODE_GAP);
      let at = tops.get(lane) + ((lanes.get(lane) ?? 0) - height) / 2;
      for (const i of members) {
        places.set(i, { x: l * column, y: at, width, height: tall(i), dot: false });
        at += tall(i) + NODE_GAP;
      }
    }
  });
  const most = Math.max(...levels.map((level) => level.order.length - level.large));
  const pitch = DOT_PITCH[most > MANY_DOTS ? 1 : 0];
  const perLine = Math.max(Math.floor(width / pitch), 1);
  let lines = 0;
  levels.forEach((level, l) => {
    const dots = showSmall ? level.order.slice(level.large) : [];
    dots.forEach((i, k) => {
      const [dx, dy] = [k % perLine, Math.floor(k / perLine)];
      places.set(i, { x: l * column + dx * pitch, y: bottom + 22 + dy * pitch, width: 0.75 * pitch, height: 0.75 * pitch, dot: true });
    });
    lines = Math.max(lines, Math.ceil(dots.length / perLine));
  });
  const anySmall = levels.some((level) => level.large < level.order.length);
  const height = bottom + (anySmall ? 22 + lines * pitch : 0) + 4;
  return { places, column, bottom, width: column * levels.length - 46 + 8, height };
}

/**
 * The mean, 0 of nothing.
 * @param {number[]} values
 */
function meanOf(values) {
  return values.reduce((sum, v) => sum + v, 0) / Math.max(values.length, 1);
}

/**
 * The lines from the parents to a node, as an SVG path.
 * @param {{ parents: number[] }} node
 * @param {number} i
 * @param {Map<number, Place>} places
 */
export function edgesTo(node, i, places) {
  const to = places.get(i);
  if (!to) return "";
  const end = [to.x, to.y + to.height / 2];
  return node.parents.filter((p) => places.has(p)).map((p) => {
    const from = placeOf(places, p);
    const start = [from.x + from.width, from.y + from.height / 2];
    const bend = Math.min((end[0] - start[0]) / 2, 40);
    return `M${start[0].toFixed(1)} ${start[1].toFixed(1)}C${(start[0] + bend).toFixed(1)} ${start[1].toFixed(1)} ${(end[0] - bend).toFixed(1)} ${end[1].toFixed(1)} ${end[0].toFixed(1)} ${end[1].toFixed(1)}`;
  }).join("");
}
