/** Positions on the time axis, in percent of its width. */
export interface Scale {
  at(ms: number): number;
  /** Periods that are drawn compressed, since nothing began or ended in them. */
  readonly breaks: readonly { readonly fromMs: number; readonly toMs: number }[];
  readonly ticks: readonly number[];
}

/** A longer pause is compressed if it would take more space than everything else. */
const LONG_MS = 30 * 60_000;
const MOST_TICKS = 6;
/** Minimum distance of two labels in percent, so that they do not overlap on a phone. */
const MIN_GAP = 15;
const STEPS_S = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400,
];

/** A linear scale over all times, in which long pauses together take at most half of the width. */
export function scaleOf(moments: readonly number[]): Scale {
  const points = [...new Set(moments)].toSorted((a, b) => a - b);
  const [first = 0] = points;
  const last = Math.max(points.at(-1) ?? 0, first + 1000);
  const ends = points.at(-1) === last ? points : [...points, last];
  const spans = ends.slice(1).map((toMs, index) => ({ fromMs: ends[index] ?? first, toMs }));
  const isLong = (span: { fromMs: number; toMs: number }) => span.toMs - span.fromMs > LONG_MS;
  const long = spans.filter(isLong);
  const short = spans
    .filter((span) => !isLong(span))
    .reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const most = Math.max(LONG_MS, short) / Math.max(1, long.length);
  const width = (span: { fromMs: number; toMs: number }) =>
    isLong(span) ? Math.min(most, span.toMs - span.fromMs) : span.toMs - span.fromMs;
  const total = spans.reduce((sum, span) => sum + width(span), 0);
  const at = (ms: number): number => {
    let passed = 0;
    for (const span of spans) {
      if (ms <= span.fromMs) break;
      const share = Math.min(1, (ms - span.fromMs) / (span.toMs - span.fromMs));
      passed += width(span) * share;
    }
    return (100 * passed) / total;
  };
  const breaks = long.filter((span) => width(span) < span.toMs - span.fromMs);
  return { at, breaks, ticks: ticksOf(first, last, total, breaks, at) };
}

function ticksOf(
  first: number,
  last: number,
  total: number,
  breaks: Scale['breaks'],
  at: (ms: number) => number,
): number[] {
  const wanted = total / 1000 / MOST_TICKS;
  const stepMs = 1000 * (STEPS_S.find((step) => step >= wanted) ?? 86_400);
  const ticks: number[] = [];
  for (let ms = Math.ceil(first / stepMs) * stepMs; ms <= last; ms += stepMs) {
    const pause = breaks.find(({ fromMs, toMs }) => ms > fromMs && ms < toMs);
    if (pause !== undefined) {
      ms = Math.ceil(pause.toMs / stepMs) * stepMs - stepMs;
      continue;
    }
    const before = ticks.at(-1);
    if (before === undefined || at(ms) - at(before) >= MIN_GAP) ticks.push(ms);
  }
  return ticks;
}
