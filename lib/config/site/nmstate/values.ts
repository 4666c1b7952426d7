/** Whether nmstate takes a value for true. */
export const isOn = (value: unknown): boolean =>
  value === true ||
  value === 1 ||
  (typeof value === 'string' && /^(1|true|yes|on|y)$/i.test(value));

/** Whether nmstate takes a value for false; undefined is neither. */
export const isOff = (value: unknown): boolean =>
  value === false ||
  value === 0 ||
  (typeof value === 'string' && /^(0|false|no|off|n)$/i.test(value));

/** nmstate accepts numbers as texts too. Undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  const isNumeric = typeof value === 'string' && /^(-?\d+|0x[0-9A-Fa-f]+)$/.test(value);
  const number = isNumeric ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}

export function isWhole(value: unknown, least: number, most: number): boolean {
  const number = numberIn(value);
  return number !== undefined && number >= least && number <= most;
}
