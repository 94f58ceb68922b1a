// What is in the page, what the parts of it share. Times are nanoseconds.

export type Theme = "light" | "dark";

/** An encoded column of the page (see encode.rs). */
export interface Column {
  id: number;
  width: number;
  scale?: Scale;
}

export interface Scale {
  lo: number;
  hi: number;
  log: boolean;
}

export interface Coloured {
  light: string;
  dark: string;
}

/** What a burst may be: a phase, noise, or set aside. */
export interface Label extends Coloured {
  name: string;
  kind: "phase" | "noise" | "filtered";
  /** Whether it shares its colour with others: small phases, too many to tell apart. */
  folded: boolean;
  /** How many bursts one of the page stands for. */
  weight: number;
}

export interface PhaseRow {
  /** Index of its label. */
  label: number;
  instances: number;
  small: boolean;
  total: number;
  mean: number;
  share: number;
  imbalance: number | null;
  some_tasks: number | null;
  spmd: number | null;
  silhouette: number | null;
  /** Mean and coefficient of variation. */
  counters: ([number | null, number | null] | null)[];
}

export interface Finding {
  text: string;
  labels: number[];
}

export interface Curve {
  k: number;
  ranks: number[];
  values: (number | null)[];
  eps: number;
  suggested: boolean;
  rule: string;
}

export interface Alignment {
  score: number | null;
  n_columns: number;
  rows: { name: string; n_tasks: number }[];
  symbols: number;
  /** Those of row r are `rowStart[r]` to `rowStart[r + 1]`. */
  rowStart: Uint32Array;
  /** Column of each symbol, from 0. */
  columns: Uint32Array;
  label: Uint32Array | Uint8Array;
}

export interface Level {
  eps: number;
  score: number;
  clusters: number;
  noise: number;
  /** `members[codes[i]]` is the node of burst i, plus 1. */
  members: number[];
  expected: number[];
  column: Column;
  codes: Uint8Array | Uint32Array;
}

export interface TreeNode {
  level: number;
  parents: number[];
  score: number;
  instances: number;
  total: number;
  last: boolean;
  phase: number | null;
  /** Index of the label that most of it ends as. */
  main: number | null;
}

export interface Tree {
  total: number;
  levels: Level[];
  nodes: TreeNode[];
  colours: Coloured[];
}

export interface Functions {
  traced: boolean;
  column: Column;
  list: (Coloured & { name: string; total: number | null })[];
  codes: Uint8Array;
  function_of_place: number[];
  /** Names with file and line: of burst i `places[place[i]]`, empty where not known. */
  places: string[];
  place: Uint32Array;
}

/** The JSON object of the page. */
export interface Meta {
  facts: [string, string][];
  verdict: string;
  findings: Finding[];
  notes: string[];
  begin: number;
  end: number;
  rows: string[];
  bursts: number;
  tick: number;
  labels: Label[];
  columns: { per_row: Column; label: Column; begin: Column; duration: Column };
  duration: { log: boolean; clustering: boolean };
  metrics: { name: string; unit: string; log: boolean; clustering: boolean; column: Column }[];
  phases: PhaseRow[];
  phase_columns: string[];
  curve: Curve | null;
  functions: Functions | null;
  alignment: (Omit<Alignment, "columns"> & { columns: { counts: Column; labels: Column; blanks: Column } }) | null;
  tree: Tree | null;
  parameters: [string, string][];
  timings: [string, number][];
}

/** A metric of the bursts: `values`, or `table[codes[i]]`. */
export type Metric = {
  name: string;
  unit: string;
  log: boolean;
  clustering: boolean;
  rounded?: boolean;
} & ({ values: Float64Array } | { values?: undefined; codes: Uint16Array; table: Float64Array });

/** Bursts are sorted by row, then begin; those of row r are `rowStart[r]` to `rowStart[r + 1]`. */
export interface Data {
  meta: Meta;
  n: number;
  label: Uint32Array | Uint8Array;
  begin: Float64Array;
  duration: Float64Array;
  rowStart: Uint32Array;
  metrics: Metric[];
  alignment: Alignment | null;
  tree: Tree | null;
  functions: Functions | null;
}

export interface State {
  /** 1 for each label that is shown. */
  shown: Uint8Array;
  highlight: number;
  pinned: number;
  /** The burst under the pointer, or -1. */
  hover: number;
  xMetric: Metric;
  yMetric: Metric;
  xLog: boolean;
  yLog: boolean;
  /** The level and the node of the tree that stand out, or -1. */
  level: number;
  node: number;
}

/** A group per burst, a colour per group as bytes of an image, and 1 for each group that steps back. */
export interface Grouping {
  of: Uint32Array | Uint8Array;
  colours: Uint32Array;
  dim: Uint8Array;
}

/** The chosen bursts: bit `i & 31` of `bits[i >>> 5]`. */
export interface Selection {
  bits: Uint32Array;
  /** 1 for each label that has a chosen burst. */
  labels: Uint8Array;
  /** Counts the changes. */
  version: number;
  has(burst: number): boolean;
  fill(which: (burst: number) => boolean): void;
  /** Chooses all bursts of the labels that are 1. */
  fillByLabel(shown: Uint8Array): void;
}

/** Pixels that are kept from frame to frame. */
export interface Surface {
  width: number;
  height: number;
  /** The pixels, of that size, red lowest. */
  resize(W: number, H: number): Uint32Array;
  /** Takes over what was written to the pixels. */
  show(): void;
  draw(context: CanvasRenderingContext2D, area: Area): void;
}

/** When pictures are drawn. */
export interface Frames {
  /** Draws a picture in the next frame; anew, or only what lies on top. */
  schedule(picture: Drawn, anew?: boolean): void;
  /** Draws what the reader moves: soon if it is in sight, coarsely if that takes long, and sharply in the end. */
  move(pictures: Drawn[]): void;
  /** Draws now all that waits. */
  settle(): void;
}

/** Time of a line of rows by slot and moment (see shares.js). */
export interface Sums {
  bins: number;
  of: Float32Array;
}

/** How much of each pixel is in which group; slots are the groups that occur, then one for what is not chosen. */
export interface Shares {
  groups: number[];
  nSlots: number;
  /** The first burst of a row that may reach a time. */
  firstAt(row: number, time: number): number;
  addRow(row: number, lo: number, hi: number, W: number, amounts: Float32Array | Float64Array): void;
  /** `fill` writes what is in each pixel of a line to `amounts[pixel · nSlots + slot]`, in rows. */
  view(rows: number, lo: number, hi: number, W: number): { amounts: Float32Array; fill(line: number): void };
}

/** What part of rows and times is drawn. */
export interface View {
  x: Range;
  y: Range;
}

/** Opaque pixels by slot, in which order slots are stacked, and which have a pixel at least. */
export interface Look {
  blank: number;
  idle: number;
  colours: Uint32Array;
  order: Uint16Array;
  lit: Uint8Array;
}

/** Points of a scatter, in ranges of all: the burst that each shows, where it is, and for how many it stands. */
export interface Points {
  order: Uint32Array;
  px: Float32Array;
  py: Float32Array;
  bursts: Uint32Array;
  ranges: number[][];
}

/** What draws a scatter. */
export interface Cloud {
  /** Takes over where the bursts are, NaN where nowhere, and the limits of the axes. */
  place(xs: Float32Array, ys: Float32Array, x: Axis, y: Axis): void;
  /** Draws the chosen bursts in view to `W` × `H` pixels, `scale` to a CSS pixel; returns how many they are. */
  draw(x: Axis, y: Axis, selection: Selection, grouping: Grouping, W: number, H: number, scale: number, pixels: Uint32Array): number;
  /** The burst whose colour a pixel has, or -1. */
  owner(pixel: number): number;
}

/** What the colours of a timeline and its bars are called. */
export interface Words {
  colours: string;
  nameOf(group: number): string;
  /** Texts of a bar, the longest first. */
  textsOf(burst: number): string[];
}

/** Colours of the page, for canvases. */
export interface PageColours {
  text: string;
  muted: string;
  grid: string;
  line: string;
  plot: string;
  /** Between bursts. */
  idle: string;
  accent: string;
}

/** A range of values; of a logarithmic axis, exponents of ten. */
export interface Range {
  lo: number;
  hi: number;
  log?: boolean;
  /** Without fractions. */
  whole?: boolean;
}

/** A range that moves within `min` and `max`, and is `least` long at least. */
export interface Axis extends Range {
  min: number;
  max: number;
  least: number;
  /** Grows downwards. */
  down?: boolean;
}

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What draws on a canvas. */
export interface Drawn {
  canvas: HTMLCanvasElement;
  area: Area;
  /** Draws anew what `paint` puts on the screen; coarsely, in fewer pixels. */
  render(coarse: boolean): void;
  paint(): void;
}

/** A picture that the mouse, keys and buttons move. */
export interface Picture extends Drawn {
  x: Axis;
  y: Axis;
  /** The rectangle that Shift-drag draws: two corners within `area`. */
  box: number[] | null;
  /** Whether keys zoom both axes. */
  zoomBoth?: boolean;
  changed(): void;
  reset(): void;
  leave(): void;
  hover(x: number, y: number, event: PointerEvent): void;
  /** Which axes the wheel zooms at a place. */
  wheel(event: WheelEvent, at: number[]): [boolean, boolean];
}

/** A timeline, with those that share its axes. */
export interface Timeline extends Picture {
  together: Drawn[];
  /** Shares and colours of now; `made` differs where the pixels would. */
  drawn(): { shares: Shares; groups: Grouping; look: Look; made: string };
}

export interface Scatter extends Picture {
  /** Takes the metrics of the state. */
  choose(): void;
}

/** Something beside the pictures that follows the state. */
export interface Part {
  refresh(): void;
}

export interface App extends Frames {
  data: Data;
  state: State;
  selection: Selection;
  page: PageColours;
  parts: Part[];
  pictures: Drawn[];
  theme(): Theme;
  colour(label: number): string;
  pixelColours(): Uint32Array;
  /** The phase that stands out, or -1. */
  focus(): number;
  summary(): string;
  refresh(): void;
  update(): void;
  highlight(label: number): void;
  pin(label: number): void;
  /** The burst under the pointer, marked in both pictures; -1 is none. */
  point(burst: number): void;
  /** Takes the colours of the theme. */
  retheme(): void;
  /** After every drawing: what the reader chose may have changed. */
  kept(): void;
  /** What is shown at first: 1 for each label. */
  firstShown(): Uint8Array;
  /** By phase; all but the one with the focus are dim. */
  phases(): Grouping;
  /** By phase or, where one is chosen, by a level or node of the tree. */
  grouping(): Grouping;
  /** The place of a node in its level by time, from 0; -1 where it is not in it. */
  rank(level: number, node: number): number;
  /** The colour of a rank; -1 is noise. */
  rankColour(rank: number): string;
  /** Shows a node, or a level if the node is -1; what is shown already is let go. */
  choose(level: number, node?: number): void;
}

/** Nodes of a level, longest first; the first `large` of them get boxes. */
export interface TreeLevel {
  order: number[];
  large: number;
}

/** A row of the table of phases, and its place before it was sorted. */
export interface TableRow extends PhaseRow {
  order: number;
}

export interface TableColumn {
  name: string;
  title?: string;
  /** What it is sorted by; NaN is missing. */
  value(row: TableRow): number;
  text(row: TableRow): string;
  spread?(row: TableRow): string;
  bar?: boolean;
}

/** Where a node is drawn. */
export interface Place extends Area {
  dot: boolean;
}

declare global {
  interface Window {
    /** For the test in a browser. */
    likewise?: object;
  }
}
