import { Failure } from './errors/failure.ts';

const UNITS_MS = { h: 3_600_000, m: 60_000, s: 1000 } as const;
/** The maximum of Node's timers. */
const LONGEST_MS = 2 ** 31 - 1;

/** The milliseconds in `90m`, `1h30m` or `45s`. @throws Failure (usage), which names the option */
export function parseDuration(option: string, text: string): number {
  const [, h, m, s] = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/.exec(text) ?? [];
  const total =
    Number(h ?? 0) * UNITS_MS.h + Number(m ?? 0) * UNITS_MS.m + Number(s ?? 0) * UNITS_MS.s;
  if (total > 0 && total <= LONGEST_MS) return total;
  throw new Failure('usage', `${option} is not a duration`, {
    expected: 'hours, minutes and seconds such as 90m, 1h30m or 45s, at most 590h',
    found: JSON.stringify(text.slice(0, 80)),
  });
}

/** `1h5m0s`, as openshift-install prints durations. */
export function durationText(milliseconds: number): string {
  const all = Math.round(milliseconds / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return `${hours > 0 ? `${hours}h` : ''}${all >= 60 ? `${minutes}m` : ''}${seconds}s`;
}
