// What the pictures colour bursts by: their phases, and when a node or a
// level of the tree is chosen, that.

import { pixelColours } from "./view.js";

/** @import { App } from "./types" */

/**
 * Adds to `app`: `phases()` and `grouping()`, which are `{ of, colours, dim }`
 * with a group per burst and a colour per group; `choose()`, which takes a node
 * or a level of the tree; and `rank()`, the place of a node in its level.
 * @param {App} app
 */
export function addGrouping(app) {
  const { data, state } = app;
  const { labels } = data.meta;
  const levels = data.tree?.levels ?? [];
  const nodesOf = data.tree?.nodes ?? [];
  const rankColours = data.tree?.colours ?? [];
  let key = "";
  let kept = new Uint32Array(0);

  /** By phase; all but the one with the focus are dim. */
  app.phases = () => {
    const focus = app.focus();
    return { of: data.label, colours: app.pixelColours(), dim: Uint8Array.from(labels, (_, l) => (focus >= 0 && l !== focus ? 1 : 0)) };
  };

  /**
   * Nodes of a level by time, from 0; the tree may hold a final node of an earlier level.
   * @type {Map<number, Map<number, number>>}
   */
  const ranks = new Map();
  /**
   * @param {number} level
   * @returns {Map<number, number>}
   */
  const ranksOf = (level) => {
    let known = ranks.get(level);
    if (!known) {
      const nodes = levels[level].members.filter((m) => m > 0).map((m) => m - 1);
      nodes.sort((a, b) => nodesOf[b].total - nodesOf[a].total || a - b);
      known = new Map(nodes.map((node, rank) => [node, rank]));
      ranks.set(level, known);
    }
    return known;
  };
  app.rank = (level, node) => ranksOf(level).get(node) ?? -1;
  /** The colour of a rank; -1 is noise. */
  app.rankColour = (rank) => rankColours[rankClass(rank)][app.theme()];
  /** @param {number} rank */
  const rankClass = (rank) => (rank < 0 ? 0 : (rank % (rankColours.length - 1)) + 1);

  /**
   * Per burst: twice what colours it, and 1 more if it stands out.
   * @param {number} level
   * @param {number} node
   * @param {number} focus
   */
  const pairs = (level, node, focus) => {
    const { label, n } = data;
    const of = new Uint32Array(n);
    const { codes, members } = levels[level];
    const classes = Uint8Array.from(members, (m) => rankClass(app.rank(level, m - 1)));
    const wanted = node < 0 ? -1 : members.indexOf(node + 1);
    for (let i = 0; i < n; i++) {
      const lit = (wanted < 0 || codes[i] === wanted) && (focus < 0 || label[i] === focus);
      of[i] = 2 * (node < 0 ? classes[codes[i]] : label[i]) + (lit ? 1 : 0);
    }
    return of;
  };

  app.grouping = () => {
    if (state.level < 0) return app.phases();
    const focus = app.focus();
    const wanted = `${state.level} ${state.node} ${focus}`;
    if (wanted !== key) [key, kept] = [wanted, pairs(state.level, state.node, focus)];
    const list = state.node < 0 ? rankColours : labels;
    const colours = pixelColours(list.map((colour) => colour[app.theme()]));
    const twice = Uint32Array.from({ length: 2 * colours.length }, (_, g) => colours[g >> 1]);
    return { of: kept, colours: twice, dim: Uint8Array.from(twice, (_, g) => 1 - (g & 1)) };
  };

  /** Shows a node, or a level if the node is -1; what is shown already is let go. */
  app.choose = (level, node = -1) => {
    const again = state.level === level && state.node === node;
    [state.level, state.node] = again ? [-1, -1] : [level, node];
    app.update();
  };
}
