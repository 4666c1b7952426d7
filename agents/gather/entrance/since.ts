const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const AGO = /^(\d{1,9})([smhd])$/;
const MOMENT = /^@(\d{1,12})$/;
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Accepted formats of a time, for messages. */
export const SINCE_FORMS =
  '2h, 30m, 90s, 3d, 2026-01-31, 2026-01-31T12:00:00Z (UTC unless it says so) or @SECONDS since 1970';

/** Milliseconds since 1970; undefined if the text is not a time or is in the future. */
export function parseSince(text: string, nowMs: number): number | undefined {
  const moment = momentOf(text, nowMs);
  return moment !== undefined && moment <= nowMs && moment >= 0 ? moment : undefined;
}

function momentOf(text: string, nowMs: number): number | undefined {
  const [, count, unit = ''] = AGO.exec(text) ?? [];
  if (count !== undefined) return nowMs - Number(count) * (UNITS[unit] ?? Number.NaN);
  const [, seconds] = MOMENT.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1000;
  const [, date, time = '00:00', zone = 'Z'] = ISO.exec(text) ?? [];
  if (date === undefined) return undefined;
  const moment = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(moment) ? undefined : moment;
}
