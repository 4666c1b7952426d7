import { basename } from 'node:path/posix';
import { plural } from '../../report/reading/words.ts';
import { assetPaths } from './assets.ts';
import type { Fate } from './installer-entries.ts';
import type { DatedCertificate, RenewedCertificates } from './renew-certificates.ts';
import type { SortedEntry } from './sort-entries.ts';

const HEADS: Readonly<Record<Fate, string>> = {
  replaced: 'Replaced by',
  dropped: 'Dropped, because',
  kept: 'Kept',
};

/**
 * What became of the installer's config, for the person who will be asked about it. Assets are
 * counted by folder: their names say nothing about what runs.
 */
export function entryLines(entries: readonly SortedEntry[]): string[] {
  return (['replaced', 'dropped', 'kept'] as const).flatMap((fate) => {
    const own = entries.filter((entry) => entry.fate === fate && entry.isKnown);
    const [assets, others] = [own.filter(isAsset), own.filter((entry) => !isAsset(entry))];
    if (own.length === 0) return [];
    return [
      `${HEADS[fate]}:`,
      ...[...byReason(others)].map(([why, names]) => `  ${why}: ${names.join(', ')}`),
      ...[...byReason(assets)].map(([why, names]) => `  ${why}: ${plural(names.length, 'file')}`),
    ];
  });
}

/** What is kept and was not written by the installer. */
export function addedLines(entries: readonly SortedEntry[]): string[] {
  const added = entries.filter(({ isKnown }) => !isKnown);
  if (added.length === 0) return [];
  return ['Not understood, and kept:', ...added.map(({ at, why }) => `  ${at}: ${why}`)];
}

export function certificateLines({ renewed, tooShort, others }: RenewedCertificates): string[] {
  return [
    ...listed('Certificates signed again, and valid until:', renewed),
    ...listed('Certificates that expire before, and cannot be signed again here:', tooShort),
    ...listed('Other certificates that expire within two years:', others),
  ];
}

function listed(head: string, certificates: readonly DatedCertificate[]): string[] {
  if (certificates.length === 0) return [];
  const lines = certificates.map(({ name, notAfter, paths }) => {
    const [own = '', ...others] = paths.map((path) => basename(path));
    const more = others.length === 0 ? '' : ` and in ${plural(others.length, 'other file')}`;
    return `  ${notAfter.toISOString().slice(0, 16)}Z ${name}, in ${own}${more}`;
  });
  return [head, ...lines.toSorted()];
}

const isAsset = ({ at }: SortedEntry) => at.startsWith(assetPaths.folder);

function byReason(entries: readonly SortedEntry[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const { at, why } of entries) names.set(why, [...(names.get(why) ?? []), at]);
  return names;
}
