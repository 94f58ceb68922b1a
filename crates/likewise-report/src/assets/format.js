// Numbers for people: SI prefixes, and ticks of axes.

/** @type {Record<string, number>} */
export const SECONDS = { s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9 };
/** @type {[number, string][]} */
const LARGE = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
/** @type {[number, string][]} */
const SMALL = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

/**
 * How a number of that size and unit is written: divisor and suffix.
 * @param {number} size
 * @param {string} unit
 */
function suffixFor(size, unit) {
  if (unit in SECONDS) {
    const seconds = size * SECONDS[unit];
    const [scale, prefix] = SMALL.find(([least]) => seconds >= least * 0.9999) ?? SMALL[seconds === 0 ? 0 : 3];
    return { scale: scale / SECONDS[unit], suffix: ` ${prefix}s` };
  }
  const [scale, prefix] = LARGE.find(([least]) => size >= least * 0.9999) ?? [1, ""];
  const words = [prefix, unit].filter(Boolean).join(" ");
  return { scale, suffix: words && (words === "%" ? "%" : ` ${words}`) };
}

/**
 * Three or four significant digits with prefix and unit: `4.33 M`, `93.7 µs`.
 * @param {number} value
 */
export function quantity(value, unit = "") {
  if (!Number.isFinite(value)) return "–";
  if (unit in SECONDS && Math.abs(value) * SECONDS[unit] >= 99.5) return longTime(value * SECONDS[unit]);
  const { scale, suffix } = suffixFor(Math.abs(value), unit);
  const scaled = value / scale;
  const size = Math.abs(scaled);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return scaled.toExponential(2) + suffix;
  const decimals = Number.isInteger(scaled) && scale === 1 ? 0 : size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0;
  return scaled.toFixed(decimals) + suffix;
}

/**
 * A whole number with separators: `1,234,567`.
 * @param {number} n
 */
export function count(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** From so many times the whole on, a factor says more than a percentage. */
export const FAR = 5;

/**
 * A factor with one decimal, or none where it is large: `12.6×`, `1,258×`.
 * @param {number} times
 */
export function factor(times) {
  return `${times >= 99.95 ? count(times) : times.toFixed(1)}×`;
}

/**
 * A share, or of many times the whole, how many: `87.3%`, `12.6×`.
 * @param {number} share
 * @param {number} decimals
 */
export function percent(share, decimals = 1) {
  if (!Number.isFinite(share)) return "–";
  return share >= FAR ? factor(share) : `${(share * 100).toFixed(decimals)}%`;
}

/**
 * A long time, as the terminal writes it: `2 min 13 s`, `3 h 12 min`.
 * @param {number} value in seconds
 */
function longTime(value) {
  const seconds = Math.round(Math.abs(value));
  const minutes = Math.round(seconds / 60);
  const text = seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${count(Math.floor(minutes / 60))} h${seconds < 360000 ? ` ${minutes % 60} min` : ""}`;
  return value < 0 ? `−${text}` : text;
}

/**
 * Four significant digits, without zeros at the end.
 * @param {number} value
 */
export function short(value) {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-6 || size >= 1e9) ? value.toExponential(3) : String(Number(value.toPrecision(4)));
}

/**
 * A score from 0 to 1 to three places; only 1 itself is `1`.
 * @param {number | null} value
 */
export function score(value) {
  if (value === null) return "–";
  return value === 1 ? "1" : Math.min(Number(value.toFixed(3)), 0.999).toFixed(3);
}

/**
 * A time in the trace as seconds, to the precision that the file holds.
 * @param {number} nanos
 * @param {number} tick
 */
export function moment(nanos, tick) {
  const decimals = 9 - Math.round(Math.log10(tick));
  return `${(nanos * 1e-9).toFixed(Math.max(decimals, 0))} s`;
}

/**
 * The least of 1, 2, 5 × 10^k that is not below `span`.
 * @param {number} span
 */
export function niceStep(span) {
  const power = 10 ** Math.floor(Math.log10(span));
  return ([1, 2, 5].find((m) => m * power >= span * 0.9999) ?? 10) * power;
}

/**
 * Ticks of an axis from `lo` to `hi`, about `wanted` of them; of a
 * logarithmic axis both are exponents of ten; a whole axis has no fractions. Returns positions in the
 * axis's own space, with texts.
 * @param {{ lo: number, hi: number, log?: boolean, whole?: boolean }} axis
 * @param {string} wholeUnit
 * @param {number} wanted
 * @returns {{ at: number, text: string }[]}
 */
export function ticks({ lo, hi, log, whole }, wholeUnit, wanted) {
  // Other units stand in the name of the axis.
  const unit = wholeUnit in SECONDS || wholeUnit === "%" ? wholeUnit : "";
  if (log && hi - lo > 0.7) return logTicks(lo, hi, unit, wanted);
  const [from, to] = log ? [10 ** lo, 10 ** hi] : [lo, hi];
  const step = Math.max(niceStep((to - from) / Math.max(wanted, 1)), whole ? 1 : 0);
  const prefix = suffixFor(Math.max(Math.abs(from), Math.abs(to)), unit);
  const out = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9 && out.length < 100; k++) {
    const value = k * step;
    // One prefix for all, but for numbers it is too large for: 500 and not 0.5 k.
    const { scale, suffix } = value === 0 || Math.abs(value) >= prefix.scale * 0.9999 || unit in SECONDS ? prefix : suffixFor(Math.abs(value), unit);
    const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)), 12);
    out.push({ at: log ? Math.log10(value) : value, text: value === 0 ? "0" : (value / scale).toFixed(decimals) + suffix });
  }
  return out;
}

/**
 * @param {number} lo
 * @param {number} hi
 * @param {string} unit
 * @param {number} wanted
 */
function logTicks(lo, hi, unit, wanted) {
  const decades = hi - lo;
  const every = Math.max(1, Math.ceil(decades / Math.max(wanted, 1)));
  const factors = decades * 3 <= wanted ? [1, 2, 5] : decades * 2 <= wanted ? [1, 3] : [1];
  const out = [];
  for (let k = Math.floor(lo); k <= hi; k++) {
    if (k % every) continue;
    for (const factor of factors) {
      const at = k + Math.log10(factor);
      if (at >= lo - 1e-9 && at <= hi + 1e-9) out.push({ at, text: powerText(factor * 10 ** k, unit) });
    }
  }
  return out;
}

/**
 * A round number without trailing zeros: `20 µs`, `1 M`, `0.1`.
 * @param {number} value
 * @param {string} unit
 */
function powerText(value, unit) {
  const { scale, suffix } = suffixFor(value, unit);
  const scaled = value / scale;
  const text = scaled < 1e-4 || scaled >= 1e6 ? scaled.toExponential(0) : String(Number(scaled.toPrecision(3)));
  return text + suffix;
}
