import { isRecord } from '../../../base/json.ts';

export type Path = readonly (string | number)[];

/** A fault at a path of an nmstate document. */
export interface Misfit {
  path: Path;
  /** Refers to the key there, not to its value. */
  ofKey?: boolean;
  expected: string;
  /** If absent, the value itself is shown. */
  found?: string;
  fix: string;
}

export const noMapping = (path: Path): Misfit => ({
  path,
  expected: 'a mapping',
  fix: 'Write it as in the examples of nmstate.',
});

/** The entries of a list with their paths; empty if it is not a list. */
export function entriesOf(value: unknown, path: Path): { entry: unknown; path: Path }[] {
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown, index) => ({ entry, path: [...path, index] }));
}

/** A fault unless the value is omitted or a list. */
export function listMisfit(value: unknown, path: Path, fix: string): Misfit[] {
  return value === undefined || Array.isArray(value) ? [] : [{ path, expected: 'a list', fix }];
}

/** The first fault of each place: one suffices. */
export function firstOfEach(misfits: readonly Misfit[]): Misfit[] {
  const seen = new Map<string, Misfit>();
  for (const misfit of misfits) {
    const place = JSON.stringify(misfit.path);
    if (!seen.has(place)) seen.set(place, misfit);
  }
  return [...seen.values()];
}

/** The field of a mapping; undefined for anything else. */
export function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}
