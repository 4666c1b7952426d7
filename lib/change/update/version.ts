/** The numbers of a version such as `v1.34.4` or `0.1.0+1a2b3c`. */
export type Numbers = readonly [major: number, minor: number, patch: number];

interface Version {
  readonly numbers: Numbers;
  /** `rc.1` of `1.2.3-rc.1+5`; undefined of a release. */
  readonly preRelease: string | undefined;
  /** `5` of it. */
  readonly build: string | undefined;
}

const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?(?:\+(.*))?$/;

/** Undefined for anything else. */
export function numbersOf(version: string): Numbers | undefined {
  return parse(version)?.numbers;
}

/**
 * Whether a version is older than another one, by Semantic Versioning 2.0: a pre-release is older than its release. Of two
 * builds of one version the smaller number is older (`+k3s1`, `+k3s2`); the digests of two commits have no order. Undefined
 * if one of them is no version.
 */
export function isOlder(version: string, than: string): boolean | undefined {
  const [a, b] = [parse(version), parse(than)];
  if (a === undefined || b === undefined) return undefined;
  const order =
    compareNumbers(a.numbers, b.numbers) ||
    comparePreReleases(a.preRelease, b.preRelease) ||
    compareBuilds(a.build, b.build);
  return order < 0;
}

function parse(text: string): Version | undefined {
  const [, major, minor, patch, preRelease, build] = VERSION.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { numbers: [Number(major), Number(minor), Number(patch)], preRelease, build };
}

function compareNumbers(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function comparePreReleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [left, right] = [a.split('.'), b.split('.')];
  for (const [index, one] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(one, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers by their value, before all words; words by their characters. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOther) return compareDigits(a, b);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}

/** Only builds that differ in their numbers alone have an order. */
function compareBuilds(a = '', b = ''): number {
  if (a.replaceAll(/\d+/g, '0') !== b.replaceAll(/\d+/g, '0')) return 0;
  const others = b.match(/\d+/g) ?? [];
  for (const [index, digits] of (a.match(/\d+/g) ?? []).entries()) {
    const order = compareDigits(digits, others[index] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

function compareDigits(a: string, b: string): number {
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}
