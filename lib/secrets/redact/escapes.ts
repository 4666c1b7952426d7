/** In URLs, C, JSON, HTML and XML. */
const ESCAPE =
  /^(?:(?:%|\\x)(?<hex>[\da-f]{2})|\\u(?<hex>[\da-f]{4})|&#x(?<hex>[\da-f]{1,5});|&#(?<decimal>\d{1,6});|\\(?<octal>[0-3][0-7]{2})|\\(?<name>[nrt])|&(?<name>[a-z]{2,4});)$/i;
const NAMES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\n',
  t: '\t',
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
};

/** The byte or character that an escape stands for, if it is one. */
export function codeOf(text: string): number | undefined {
  const { hex, decimal, octal, name = '' } = ESCAPE.exec(text)?.groups ?? {};
  if (hex !== undefined) return Number.parseInt(hex, 16);
  if (octal !== undefined) return Number.parseInt(octal, 8);
  return decimal === undefined ? NAMES[name]?.charCodeAt(0) : Number(decimal);
}
