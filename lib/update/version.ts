/** The numbers of a version such as `v1.34.4` or `0.1.0+1a2b3c`. */
export type Numbers = readonly [major: number, minor: number, patch: number];

/** Undefined for anything else. Pre-releases and build metadata are not compared. */
export function numbersOf(version: string): Numbers | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(version) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return [Number(major), Number(minor), Number(patch)];
}

/** Negative if `a` is older than `b`, 0 if they are the same. */
export function compareNumbers(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
