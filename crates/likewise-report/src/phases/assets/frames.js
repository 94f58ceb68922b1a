// When pictures are drawn. What the reader moves is drawn in the next frame,
// coarsely where that takes long, and sharply once nothing has moved for a
// moment; what is out of sight waits for that moment too.

/** @import { Drawn, Frames } from "./types" */

/** So long nothing has moved, in ms. */
const STILL = 140;
/** A picture that took longer, in ms, is drawn coarsely while it moves. */
const SLOW = 6;
/** After so long, in ms, other pictures wait for the next frame. */
const BUDGET = 6;

/** @param {Drawn} picture */
function isInSight({ canvas }) {
  const { top, bottom } = canvas.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

/** @returns {Frames} */
export function makeFrames() {
  /** What the next frame draws; null is only what lies on top. */
  /** @type {Map<Drawn, "sharp" | "coarse" | null>} */
  const dirty = new Map();
  /** What is not yet as it shall be. @type {Set<Drawn>} */
  const later = new Set();
  /** How long each took. @type {Map<Drawn, number>} */
  const cost = new Map();
  let frame = 0;
  let still = 0;

  /**
   * @param {Drawn} picture
   * @param {"sharp" | "coarse" | null} how
   */
  const add = (picture, how) => {
    dirty.set(picture, how ?? dirty.get(picture) ?? null);
    frame ||= requestAnimationFrame(() => draw(BUDGET));
  };

  /**
   * Draws what is dirty, the longest waiting first, until the time is used.
   * @param {number} budget
   */
  const draw = (budget) => {
    cancelAnimationFrame(frame);
    frame = 0;
    const began = performance.now();
    for (const [picture, how] of [...dirty]) {
      const start = performance.now();
      if (start - began > budget) break;
      dirty.delete(picture);
      if (how) picture.render(how === "coarse");
      picture.paint();
      if (how === "sharp") cost.set(picture, performance.now() - start);
    }
    if (dirty.size > 0) frame = requestAnimationFrame(() => draw(BUDGET));
  };

  /** @type {Frames} */
  const frames = {
    schedule(picture, anew = true) {
      add(picture, anew ? "sharp" : null);
      if (anew) later.delete(picture);
    },
    move(pictures) {
      for (const picture of pictures) {
        const slow = (cost.get(picture) ?? 0) > SLOW;
        const seen = isInSight(picture);
        if (seen) add(picture, slow ? "coarse" : "sharp");
        if (slow || !seen) later.add(picture);
      }
      clearTimeout(still);
      still = setTimeout(() => later.forEach((picture) => frames.schedule(picture)), STILL);
    },
    settle() {
      later.forEach((picture) => frames.schedule(picture));
      draw(Infinity);
    },
  };
  return frames;
}
