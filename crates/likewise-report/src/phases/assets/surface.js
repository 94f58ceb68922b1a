// Pixels that are kept from frame to frame: allocating them for each frame
// took longer than drawing.

import { contextOf } from "../../assets/dom.js";

/** @import { Surface } from "./types" */

/**
 * A bitmap of any size, written as pixels and drawn to an area of a canvas.
 * @returns {Surface}
 */
export function makeSurface() {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [1, 1];
  let image = new ImageData(1, 1);
  let pixels = new Uint32Array(image.data.buffer);
  /** @type {Surface} */
  const surface = {
    width: 0,
    height: 0,
    resize(W, H) {
      if (W !== surface.width || H !== surface.height) {
        image = new ImageData(W, H);
        pixels = new Uint32Array(image.data.buffer);
        // It only grows, so that a coarse picture and a sharp one share it.
        if (canvas.width < W) canvas.width = W;
        if (canvas.height < H) canvas.height = H;
        [surface.width, surface.height] = [W, H];
      }
      return pixels;
    },
    show() { contextOf(canvas).putImageData(image, 0, 0); },
    draw(context, area) {
      if (surface.width === 0) return;
      context.imageSmoothingEnabled = false;
      context.drawImage(canvas, 0, 0, surface.width, surface.height, area.x, area.y, area.width, area.height);
    },
  };
  return surface;
}
