const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** `45 s`, `3 min 20 s`, `5 h 10 min`, `12 days`. */
export function duration(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (Math.abs(ms) < 50) return '< 0.1 s';
  if (seconds < MINUTE) {
    return Math.abs(ms) < 10_000 ? `${Math.round(Math.abs(ms) / 100) / 10} s` : `${seconds} s`;
  }
  if (seconds < HOUR) return two(seconds, MINUTE, 'min', 1, 's');
  if (seconds < 2 * DAY) return two(seconds, HOUR, 'h', MINUTE, 'min');
  return `${Math.round(seconds / DAY)} days`;
}

function two(seconds: number, unit: number, name: string, part: number, partName: string): string {
  const whole = Math.floor(seconds / unit);
  const rest = Math.floor((seconds % unit) / part);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${partName}`;
}

/** `2026-11-21 14:58:45 UTC` */
export function time(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return 'an unknown time';
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `512 MiB`, `1.5 GiB`. */
export function bytes(value: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [left, unit] = [value, 0];
  while (left >= 1024 && unit < units.length - 1) [left, unit] = [left / 1024, unit + 1];
  return `${left >= 10 || unit === 0 ? Math.round(left) : Math.round(left * 10) / 10} ${units[unit]}`;
}

export const percent = (share: number): string =>
  `${share > 0 && share < 0.01 ? Math.round(share * 1000) / 10 : Math.round(share * 100)}%`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** At most `most` items, and the number of others. */
export function some(items: readonly string[], most = 3): string {
  const shown = items.slice(0, most).join(', ');
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

/** At most `most` characters, whole ones. */
export const shorten = (text: string, most: number): string =>
  (text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`).toWellFormed();
