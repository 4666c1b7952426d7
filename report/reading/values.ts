/** Reads JSON from other programs: values of an unexpected form count as missing. */

/** The value at a path of keys and indexes; undefined if the path does not exist. */
export function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

export function textAt(value: unknown, ...keys: readonly (string | number)[]): string | undefined {
  const found = at(value, ...keys);
  return typeof found === 'string' ? found : undefined;
}

/** Also accepts numbers written as strings, as Protocol Buffers' JSON has 64-bit ones. */
export function numberAt(
  value: unknown,
  ...keys: readonly (string | number)[]
): number | undefined {
  const found = at(value, ...keys);
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export function listAt(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...keys);
  return Array.isArray(found) ? found : [];
}

export const textsAt = (value: unknown, ...keys: readonly (string | number)[]): string[] =>
  listAt(value, ...keys).filter((item) => typeof item === 'string');

/** A time in milliseconds since 1970. */
export function msAt(value: unknown, ...keys: readonly (string | number)[]): number | undefined {
  return parseTime(textAt(value, ...keys));
}

/**
 * ISO times with any offset (`+0000` too), and systemd's `Sat 2026-11-21 14:58:45 UTC`.
 * Undefined if Date cannot represent it.
 */
export function parseTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const plain = text
    .replace(/^[A-Z][a-z]{2} (?=\d{4}-)/, '')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
    .replace(/(\.\d{3})\d+/, '$1');
  const ms = Date.parse(plain);
  return Number.isNaN(ms) ? undefined : ms;
}
