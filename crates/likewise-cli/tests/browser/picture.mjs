// What is drawn on a canvas.

/** Colours of a canvas with their number of pixels, most frequent first. */
export const colours = (page, id) => page.evaluate((id) => {
  const canvas = document.getElementById(id);
  // A copy, so that reading does not move the picture itself off the GPU.
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (const pixel of new Uint32Array(data.buffer)) seen.set(pixel, (seen.get(pixel) ?? 0) + 1);
  return [...seen].sort((a, b) => b[1] - a[1]);
}, id);

export const fingerprint = async (page, id) => JSON.stringify((await colours(page, id)).slice(0, 2000));
export const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
