// The table of phases: sorts by any column, and a click on a row keeps its
// phase highlighted in the pictures.

import { byId } from "../../assets/dom.js";
import { FAR, count, factor, percent, quantity, score } from "../../assets/format.js";
import { foldButton } from "./legend.js";
import { button } from "./view.js";

/** @import { TableColumn, TableRow, App, Meta } from "./types" */

/**
 * @param {Meta} meta
 * @returns {TableColumn[]}
 */
function phaseColumns({ phases, phase_columns: counters }) {
  /** @type {TableColumn[]} */
  const columns = [
    { name: "Phase", value: (p) => p.order, text: () => "" },
    { name: "Bursts", value: (p) => p.instances, text: (p) => count(p.instances) },
    { name: "Total time", value: (p) => p.total, text: (p) => quantity(p.total, "ns") },
    { name: "Share of time", value: (p) => p.share, text: (p) => percent(p.share), bar: true },
    { name: "Mean duration", value: (p) => p.mean, text: (p) => quantity(p.mean, "ns") },
  ];
  if (phases.some((p) => p.imbalance !== null)) {
    columns.push({
      name: "Imbalance",
      title: "How much longer the slowest task takes than the mean of the tasks; 0% is balanced. Where some tasks have none of the phase: how many have it. – where bursts of no phase may be what tasks lack of it",
      value: (p) => p.imbalance ?? NaN,
      text: (p) => (p.some_tasks === 1 ? "one task" : p.some_tasks ? `${p.some_tasks} tasks` : p.imbalance === null ? "–" : p.imbalance >= FAR ? factor(1 + p.imbalance) : percent(p.imbalance)),
    });
  }
  if (phases.some((p) => p.spmd !== null)) {
    columns.push({
      name: "SPMD",
      title: "Score per Cluster: how alike the tasks' steps are where the phase occurs, from 0 to 1",
      value: (p) => p.spmd ?? NaN,
      text: (p) => score(p.spmd),
    });
  }
  if (phases.some((p) => p.silhouette !== null)) {
    columns.push({
      name: "Silhouette",
      title: "How much nearer its bursts are to each other than to the next phase, from −1 to 1",
      value: (p) => p.silhouette ?? NaN,
      text: (p) => (p.silhouette === null ? "–" : p.silhouette.toFixed(2).replace("-", "−")),
    });
  }
  counters.forEach((name, c) => {
    /**
     * @param {TableRow} p
     * @returns {[number | null, number | null]}
     */
    const of = (p) => p.counters[c] ?? [NaN, NaN];
    columns.push({
      name,
      title: `${name}: mean, and coefficient of variation`,
      value: (p) => of(p)[0] ?? NaN,
      text: (p) => quantity(of(p)[0] ?? NaN),
      spread: (p) => (Number.isFinite(of(p)[1]) ? `±${percent(Number(of(p)[1]), 0)}` : ""),
    });
  });
  return columns;
}

/** @param {App} app */
export function makeTable(app) {
  const { meta } = app.data;
  const { state } = app;
  const table = byId("phases", HTMLTableElement);
  const phases = meta.phases.map((phase, order) => ({ ...phase, order }));
  const columns = phaseColumns(meta);
  const sort = { column: 0, descending: false };
  const head = table.createTHead().insertRow();
  const body = table.createTBody();
  const headers = columns.map((column, c) => {
    const cell = document.createElement("th");
    cell.scope = "col";
    const sorter = button(column.name, column.title ?? column.name, () => {
      sort.descending = sort.column === c ? !sort.descending : c > 0;
      sort.column = c;
      order();
    });
    sorter.className = "sorter";
    cell.append(sorter);
    head.append(cell);
    return cell;
  });

  const top = Math.max(...phases.map((p) => p.share), 1e-9);
  const rows = phases.map((phase) => {
    const row = document.createElement("tr");
    row.id = `row-${phase.label}`;
    row.append(nameCell(phase));
    for (const column of columns.slice(1)) row.append(valueCell(phase, column));
    row.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && app.highlight(phase.label));
    row.addEventListener("pointerleave", () => app.highlight(-1));
    row.addEventListener("click", () => app.pin(phase.label));
    return row;
  });

  const small = phases.filter((phase) => phase.small);
  const more = document.createElement("tr");
  if (small.length) {
    const cell = more.insertCell();
    cell.colSpan = columns.length;
    cell.append(foldButton(small, small.map((phase) => rows[phase.order]), "sorter"));
  }

  /** @param {TableRow} phase */
  function nameCell(phase) {
    const label = meta.labels[phase.label];
    const cell = document.createElement("th");
    cell.scope = "row";
    const pin = document.createElement("button");
    pin.type = "button";
    pin.className = "phase-name";
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    pin.append(swatch, label.name);
    swatch.classList.toggle("outlined", label.kind === "filtered");
    pin.title = "Keep highlighted";
    cell.append(pin);
    return cell;
  }

  /**
   * @param {TableRow} phase
   * @param {TableColumn} column
   */
  function valueCell(phase, column) {
    const cell = document.createElement("td");
    cell.textContent = column.text(phase);
    if (column.bar) {
      const bar = document.createElement("span");
      bar.className = "bar";
      const filled = document.createElement("span");
      filled.style.width = `${Math.max(0, Math.min(phase.share / top, 1)) * 100}%`;
      bar.append(filled);
      cell.append(bar);
      cell.classList.add("with-bar");
    }
    if (column.spread) {
      const spread = document.createElement("span");
      spread.className = "spread";
      spread.textContent = column.spread(phase);
      cell.append(spread);
    }
    return cell;
  }

  /** Phases by the chosen column; noise and what was set aside stay below. */
  function order() {
    const { value } = columns[sort.column];
    const sign = sort.descending ? -1 : 1;
    /** @param {TableRow} p */
    const below = (p) => meta.labels[p.label].kind !== "phase";
    const sorted = phases.toSorted((a, b) => {
      const [u, v] = [value(a), value(b)];
      const missing = Number(Number.isNaN(u)) - Number(Number.isNaN(v));
      return Number(below(a)) - Number(below(b)) || (below(a) ? a.order - b.order : missing || sign * (u - v) || a.order - b.order);
    });
    const [above, under] = [sorted.filter((p) => !below(p)), sorted.filter(below)].map((list) => list.map((p) => rows[p.order]));
    body.replaceChildren(...above, ...(small.length ? [more] : []), ...under);
    const direction = sort.descending ? "descending" : "ascending";
    headers.forEach((cell, c) => cell.setAttribute("aria-sort", c === sort.column ? direction : "none"));
  }

  if (phases.length === 0) {
    const cell = body.insertRow().insertCell();
    cell.colSpan = columns.length;
    cell.textContent = "No bursts, no phases.";
  } else {
    order();
  }
  const notes = ["Click a column to sort by it, a row to keep its phase highlighted."];
  if (meta.phase_columns.length) notes.push("Counters: mean per burst ± coefficient of variation.");
  if (columns.some((c) => c.name === "Imbalance")) notes.push("Imbalance: longest time of a task over the mean of the tasks, less 1; 0% is balanced.");
  if (columns.some((c) => c.name === "SPMD")) notes.push("SPMD: do the tasks do it at the same step; 1 is all of them.");
  if (columns.some((c) => c.name === "Silhouette")) notes.push("Silhouette: 1 is far from the next phase, 0 between two, below 0 nearer to the other.");
  if (meta.labels.some((l) => l.folded)) notes.push("Twenty phases have a colour of their own; smaller ones share one.");
  byId("phases-caption").textContent = notes.join(" ");

  return {
    refresh() {
      const focus = app.focus();
      phases.forEach((phase, k) => {
        const row = rows[k];
        row.classList.toggle("focus", phase.label === focus);
        row.classList.toggle("hidden-phase", !state.shown[phase.label]);
        row.querySelector("button")?.setAttribute("aria-pressed", String(state.pinned === phase.label));
        row.querySelectorAll(".swatch, .bar > span").forEach((part) => { /** @type {HTMLElement} */ (part).style.background = app.colour(phase.label); });
      });
    },
  };
}
