// The timeline by function of the source, beside that by phase: which phase is
// which code (González et al. 2009, figure 5a).

import { byId } from "../../assets/dom.js";
import { quantity } from "../../assets/format.js";
import { makeTimeline } from "./timeline.js";
import { pixelColours } from "./view.js";
import { functionWords } from "./words.js";

/** @import { App, Timeline } from "./types" */

/**
 * @param {App} app
 * @param {Timeline} timeline
 */
export function makeFunctions(app, timeline) {
  const { data } = app;
  const { functions } = data;
  if (!functions) return null;
  byId("functions-section").hidden = false;
  byId("functions").style.height = byId("timeline").style.height;

  /** Per burst: twice its function, and 1 more if its phase stands out or none does. */
  let key = NaN;
  let kept = new Uint32Array(0);
  const grouping = () => {
    const focus = app.focus();
    if (focus !== key) {
      [key, kept] = [focus, new Uint32Array(data.n)];
      for (let i = 0; i < data.n; i++) kept[i] = 2 * functions.codes[i] + (focus < 0 || data.label[i] === focus ? 1 : 0);
    }
    const colours = pixelColours(functions.list.map((one) => one[app.theme()]));
    const twice = Uint32Array.from({ length: 2 * colours.length }, (_, g) => colours[g >> 1]);
    return { of: kept, colours: twice, dim: Uint8Array.from(twice, (_, g) => 1 - (g & 1)) };
  };

  const used = new Set(functions.codes);
  const keys = functions.list.filter((_, f) => used.has(f)).map((one) => {
    const item = document.createElement("li");
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    item.append(swatch, one.total === null ? one.name : `${one.name}, ${quantity(one.total, "ns")}`);
    byId("functions-legend").append(item);
    return { swatch, one };
  });

  const picture = makeTimeline(app, "functions", grouping, functionWords(app, functions), timeline);
  return { picture, refresh: () => keys.forEach(({ swatch, one }) => { swatch.style.background = one[app.theme()]; }) };
}
