// How the refinement came to its phases: levels from left to right, nodes as
// boxes as tall as their time. A click on a node or a level shows it in the
// scatter and the timeline.

import { byId } from "../../assets/dom.js";
import { count, percent, quantity, score } from "../../assets/format.js";
import { hideTooltip, showTooltip } from "./tooltip.js";
import { edgesTo, layoutTree, placeOf, treeLevels } from "./treelayout.js";
import { button } from "./view.js";

/** @import { Place, Tree, TreeLevel, App } from "./types" */

const drawing = /** @type {SVGElement} */ (document.querySelector("#tree"));

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 */
function svg(name, attributes = {}) {
  const element = /** @type {SVGElement} */ (document.createElementNS(drawing.namespaceURI, name));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** @param {App} app */
export function makeTree(app) {
  const { tree } = app.data;
  return tree && tree.levels.length > 0 ? drawnTree(app, tree) : null;
}

/**
 * @param {App} app
 * @param {Tree} tree
 */
function drawnTree(app, tree) {
  const { meta } = app.data;
  byId("tree-section").hidden = false;
  const { state } = app;
  const { nodes } = tree;
  const levels = treeLevels(tree);

  const scroll = byId("tree-scroll");
  const heads = byId("tree-levels");
  /** @type {HTMLButtonElement[]} */
  const levelHeads = [];
  const small = byId("tree-small", HTMLInputElement);
  /** @type {number[][]} */
  const children = nodes.map(() => []);
  nodes.forEach((node, i) => node.parents.forEach((p) => children[p].push(i)));
  /** @type {ReturnType<typeof layoutTree>} */
  let layout = { places: new Map(), column: 0, bottom: 0, width: 0, height: 0 };
  let lineage = svg("path");
  /**
   * The element of each node that is shown.
   * @type {Map<number, SVGElement>}
   */
  const elements = new Map();
  /** The node that the Tab key reaches. */
  let current = -1;

  /** @param {number} i */
  const phaseOf = (i) => (nodes[i].phase === null ? "" : `Phase ${nodes[i].phase}`);
  // A node grows: it is shown as it last was, before it became part of another.
  const lastLevel = new Map();
  tree.levels.forEach(({ members }, l) => members.forEach((m) => lastLevel.set(m - 1, l)));
  /** @param {number} i */
  const nameOf = (i) => `${phaseOf(i) || "Node"}, level ${nodes[i].level + 1}`;
  /** @param {number} i */
  const describe = (i) => {
    const node = nodes[i];
    /** @type {[string, string][]} */
    const pairs = [
      ["score", score(node.score)],
      ["bursts", count(node.instances)],
      ["time", `${quantity(node.total, "ns")}, ${percent(node.total / tree.total)}`],
      ["parents, children", `${count(node.parents.length)}, ${count(children[i].length)}`],
    ];
    if (node.phase === null && node.main !== null) pairs.push(["most of it ends as", meta.labels[node.main].name]);
    if (node.last) pairs.push(["final", "a phase at the end"]);
    return pairs;
  };

  /**
   * A node with all that it came from and all that came of it.
   * @param {number} i
   */
  const related = (i) => {
    const seen = new Set([i]);
    for (const next of [nodes.map((node) => node.parents), children]) {
      const open = [i];
      while (open.length) {
        for (const k of next[open.pop() ?? i]) {
          if (seen.has(k)) continue;
          seen.add(k);
          open.push(k);
        }
      }
    }
    return seen;
  };

  /** @param {number} i */
  const showLineage = (i) => {
    const family = i < 0 ? new Set() : related(i);
    const path = [...family].map((k) => edgesTo({ parents: nodes[k].parents.filter((p) => family.has(p)) }, k, layout.places));
    lineage.setAttribute("d", path.join(""));
  };

  /** @param {number} i */
  const colourOf = (i) => {
    const { main, level } = nodes[i];
    if (state.level >= 0 && state.node < 0) {
      const rank = app.rank(state.level, i);
      return rank < 0 ? app.page.line : app.rankColour(rank);
    }
    return main === null || level < 0 ? app.page.muted : app.colour(main);
  };

  /** @param {number} i */
  function nodeElement(i) {
    const { x, y, width, height, dot } = placeOf(layout.places, i);
    const node = nodes[i];
    const group = svg("g", {
      class: ["tree-node", dot && "tree-dot", node.last && "final"].filter(Boolean).join(" "),
      role: "button", tabindex: -1, "data-node": i,
      // It begins with what stands in the box.
      "aria-label": `${phaseOf(i) ? `${phaseOf(i)} · ` : ""}${score(node.score)}; ${nameOf(i)}: ${describe(i).map((pair) => pair.join(" ")).join(", ")}`,
    });
    if (dot) {
      group.append(svg("circle", { class: "tree-fill", cx: x + width / 2, cy: y + height / 2, r: width / 2 }));
      return group;
    }
    group.append(svg("rect", { class: "tree-box", x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 3 }));
    group.append(svg("rect", { class: "tree-fill", x: x + 3, y: y + 3, width: 10, height: height - 6, rx: 1.5 }));
    const text = svg("text", { x: x + 18, y: y + height / 2, "dominant-baseline": "central" });
    const value = svg("tspan", { class: "tree-score" });
    value.textContent = score(node.score);
    text.append(phaseOf(i) ? `${phaseOf(i)} · ` : "", value);
    group.append(text);
    return group;
  }

  /**
   * @param {TreeLevel} level
   * @param {number} l
   */
  const summaryText = ({ order, large }, l) => {
    const rest = order.slice(large);
    const text = svg("text", { x: l * layout.column + 3, y: layout.bottom + 11, class: "tree-more", "dominant-baseline": "central" });
    const time = rest.reduce((sum, i) => sum + nodes[i].total, 0);
    text.textContent = rest.length ? `${small.checked ? "" : "+ "}${count(rest.length)} small, ${percent(time / tree.total)}` : "";
    return text;
  };

  function build() {
    layout = layoutTree(tree, levels, scroll.clientWidth - 6, small.checked);
    drawing.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
    drawing.setAttribute("width", String(layout.width));
    drawing.setAttribute("height", String(layout.height));
    heads.style.width = `${layout.width}px`;
    // What fits on paper.
    scroll.style.setProperty("--paper", String(Math.min(1, 690 / layout.width)));
    levelHeads.forEach((head, l) => {
      head.style.left = `${l * layout.column}px`;
      head.style.width = `${layout.column - 46 + 8}px`;
    });
    const boxes = [...layout.places].filter(([, place]) => !place.dot).map(([i]) => i);
    const edges = svg("path", { class: "tree-edges", d: boxes.map((i) => edgesTo({ parents: nodes[i].parents.filter((p) => !layout.places.get(p)?.dot) }, i, layout.places)).join("") });
    lineage = svg("path", { class: "tree-lineage" });
    elements.clear();
    for (const i of layout.places.keys()) elements.set(i, nodeElement(i));
    drawing.replaceChildren(edges, lineage, ...elements.values(), ...levels.map(summaryText));
    if (!elements.has(current)) current = boxes[0] ?? [...elements.keys()][0] ?? -1;
    elements.get(current)?.setAttribute("tabindex", "0");
    refresh();
  }

  function refresh() {
    const chosen = state.node;
    const family = chosen < 0 ? null : related(chosen);
    for (const [i, element] of elements) {
      element.querySelector(".tree-fill")?.setAttribute("fill", colourOf(i));
      element.setAttribute("aria-pressed", String(i === chosen));
      element.classList.toggle("chosen", i === chosen);
      element.classList.toggle("apart", family !== null && !family.has(i));
    }
    levelHeads.forEach((head, l) => head.setAttribute("aria-pressed", String(state.level === l && chosen < 0)));
    showLineage(chosen);
    tellChoice();
  }

  function tellChoice() {
    const { level, node } = state;
    byId("choice").hidden = level < 0;
    // Its colours are not those of the pictures then.
    document.querySelector(".legend")?.classList.toggle("apart", level >= 0 && node < 0);
    if (level < 0) return;
    const { eps, clusters } = tree.levels[level];
    byId("choice-text").textContent = node >= 0
      ? `${nameOf(node)} (eps ${Number(eps.toPrecision(3))}): ${count(nodes[node].instances)} bursts, ${percent(nodes[node].total / tree.total)} of the time, stand out.`
      : `Level ${level + 1} (eps ${Number(eps.toPrecision(3))}): ${count(clusters)} clusters, coloured by their place in time, not by phase.`;
  }

  /**
   * Moves the focus to the nearest node in a direction.
   * @param {string} key
   */
  function move(key) {
    const from = layout.places.get(current);
    if (!from) return;
    const sideways = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0;
    /** @param {Place} p */
    const at = (p) => [p.x + (p.dot ? 0 : p.width / 2), p.y + p.height / 2];
    const [fx, fy] = at(from);
    let [best, found] = [Infinity, -1];
    for (const [i, place] of layout.places) {
      const [x, y] = at(place);
      const sameLevel = nodes[i].level === nodes[current].level;
      const ahead = sideways ? (x - fx) * sideways > 0.5 && (!sameLevel || place.dot) : sameLevel && (y - fy) * down > 0.5;
      const far = sideways ? Math.abs(x - fx) * 3 + Math.abs(y - fy) : Math.abs(y - fy) * 3 + Math.abs(x - fx);
      if (ahead && far < best) [best, found] = [far, i];
    }
    if (found < 0) return;
    elements.get(current)?.setAttribute("tabindex", "-1");
    current = found;
    elements.get(current)?.setAttribute("tabindex", "0");
    elements.get(current)?.focus();
  }

  /** @param {Event} event */
  const nodeAt = (event) => Number(event.target instanceof Element ? (event.target.closest(".tree-node")?.getAttribute("data-node") ?? -1) : -1);
  /** @param {number} i */
  const choose = (i) => {
    elements.get(current)?.setAttribute("tabindex", "-1");
    current = i;
    elements.get(i)?.setAttribute("tabindex", "0");
    app.choose(lastLevel.get(i) ?? nodes[i].level, i);
  };
  const reset = () => state.level >= 0 && app.choose(state.level, state.node);

  drawing.addEventListener("click", (event) => {
    const i = nodeAt(event);
    if (i >= 0) choose(i);
  });
  drawing.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const i = nodeAt(event);
    if (event.key === "Escape") reset();
    else if (event.key.startsWith("Arrow")) move(event.key);
    else if (i >= 0 && (event.key === "Enter" || event.key === " ")) choose(i);
    else return;
    event.preventDefault();
  });
  drawing.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse") return;
    const i = nodeAt(event);
    showLineage(i < 0 ? state.node : i);
    if (i < 0) hideTooltip();
    else showTooltip(event, nameOf(i), colourOf(i), describe(i), "");
  });
  drawing.addEventListener("pointerleave", () => {
    showLineage(state.node);
    hideTooltip();
  });
  drawing.addEventListener("focusin", (event) => nodeAt(event) >= 0 && showLineage(nodeAt(event)));
  small.addEventListener("change", build);
  byId("choice-reset").addEventListener("click", reset);

  tree.levels.forEach((level, l) => {
    const head = button("", `Level ${l + 1}, eps ${Number(level.eps.toPrecision(3))}: show its clusters`, () => app.choose(l));
    head.className = "tree-level";
    head.removeAttribute("aria-label");
    for (const [name, text] of [
      ["tree-eps", `eps ${Number(level.eps.toPrecision(3))}`],
      ["", `score ${score(level.score)}`],
      ["", `${count(level.clusters)} clusters`],
      ["", `${percent(level.noise)} noise`],
    ]) {
      const line = document.createElement("span");
      line.className = name;
      line.textContent = text;
      head.append(line);
    }
    heads.append(head);
    levelHeads.push(head);
  });
  const hidden = levels.reduce((sum, { order, large }) => sum + order.length - large, 0);
  byId("tree-small-label").hidden = hidden === 0;
  byId("tree-small-label").append(` show small nodes (${count(hidden)})`);
  byId("tree-caption").textContent = `${count(tree.levels.length)} levels, ${count(nodes.length)} nodes. Each column is a level, eps growing to the right; a box is as tall as its time, has the colour of the phase it ends as, and its score. A frame marks what is final. Click, or Enter, shows a node, a level's head shows the level; arrow keys move, Escape shows all.`;
  // For layouts that only a narrower window asks for.
  let width = 0;
  new ResizeObserver(() => {
    // A tree that is not shown, or on paper, has no width.
    if (app.page && scroll.clientWidth > 0 && scroll.clientWidth !== width) {
      width = scroll.clientWidth;
      build();
    }
  }).observe(scroll);
  return { refresh: () => (layout.column > 0 ? refresh() : build()), nodes, levels };
}
