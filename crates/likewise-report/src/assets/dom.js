// Elements of the page.

/**
 * The element with that id, which the page has.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind] what it must be
 * @returns {T}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof (kind ?? HTMLElement))) throw new Error(`the page lacks #${id}`);
  return /** @type {T} */ (element);
}

/**
 * What a canvas or a hidden one draws with.
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function contextOf(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser gives no canvas");
  return context;
}
