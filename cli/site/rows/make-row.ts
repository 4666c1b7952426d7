import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { exists, sha256OfFile } from '../../../lib/host/files.ts';
import { kindOf } from '../../../lib/host/given-file.ts';
import { VOLUME_FILES } from '../../../lib/relocation/site-volume/volume.ts';
import { makeNewFolder } from '../../create/new-folder.ts';
import { storeVolume } from '../../create/site-volume.ts';
import { AUTH_FILES, makeVolume } from '../make-volume.ts';
import type { SiteMedium } from '../write-medium.ts';
import type { JudgedRow, ReadRow } from './judge.ts';
import type { RowResult } from './results.ts';

/** How the volume of a row is written into its folder. */
export type RowFormat = keyof typeof FORMATS;

const FORMATS = {
  iso: { medium: 'iso', name: 'site-volume.iso', digested: '' },
  folder: { medium: 'folder', name: 'volume', digested: VOLUME_FILES.manifest },
} as const satisfies Readonly<
  Record<string, { medium: SiteMedium['kind']; name: string; digested: string }>
>;

export const FORMAT_NAMES: readonly string[] = Object.keys(FORMATS);
export const isFormat = (name: string): name is RowFormat => Object.hasOwn(FORMATS, name);

/** What all rows of a run have in common. */
export interface RowsRun {
  /** The folder that gets a folder for each row. */
  readonly output: string;
  readonly format: RowFormat;
  /** Of rows whose template has none. */
  readonly serial: number;
  /** An SSH key. */
  readonly sign: string | undefined;
  readonly signal: AbortSignal;
}

/** Makes the volume of a row and its auth; their folder appears at once, or not at all. */
export async function makeRow(
  judged: JudgedRow,
  { site, facts, recipient }: ReadRow,
  { output, format, serial, sign, signal }: RowsRun,
): Promise<RowResult> {
  const folder = join(output, judged.site);
  await requireNothingAt(folder);
  const config = { ...site.config, serial: site.config.serial ?? serial };
  const protection = {
    ...(sign === undefined ? {} : { sign }),
    ...(recipient === undefined ? {} : { recipient }),
  };
  const context = { facts, now: new Date(), signal };
  const made = await makeVolume({ ...site, config }, protection, context);
  const { medium, name } = FORMATS[format];
  const digest = await makeNewFolder(
    folder,
    async (staging) => {
      await storeVolume({ kind: medium, path: join(staging, name) }, staging, made, signal);
      return volumeDigest(staging, format, signal);
    },
    0o700,
  );
  return done(judged, serial, digest);
}

/**
 * The result of a row whose folder was complete when the run was killed before it had noted that; undefined if there is no such
 * folder. Its keys stay, since somebody may have taken it already.
 */
export async function completeRow(
  judged: JudgedRow,
  { output, format, serial, signal }: RowsRun,
): Promise<RowResult | undefined> {
  const folder = join(output, judged.site);
  const { kubeconfig, key, request } = AUTH_FILES;
  const auth = judged.isEncrypted ? [kubeconfig] : [key, request];
  const { name, digested } = FORMATS[format];
  for (const path of [...auth, join(name, digested)]) {
    const stats = await lstat(join(folder, path)).catch(() => undefined);
    if (stats?.isFile() !== true) return undefined;
  }
  return done(judged, serial, await volumeDigest(folder, format, signal));
}

const volumeDigest = (folder: string, format: RowFormat, signal: AbortSignal): Promise<string> =>
  sha256OfFile(join(folder, FORMATS[format].name, FORMATS[format].digested), signal);

const done = (judged: JudgedRow, serial: number, sha256: string): RowResult => ({
  schemaVersion: 1,
  site: judged.site,
  state: 'done',
  serial: judged.serial ?? serial,
  isEncrypted: judged.isEncrypted,
  sha256,
});

async function requireNothingAt(folder: string): Promise<void> {
  if (!(await exists(folder))) return;
  const stats = await lstat(folder);
  throw new Failure('usage', `There is already ${folder}, which this run has not made`, {
    found: stats.isFile() ? 'a file' : kindOf(stats),
    fix: 'Move it away, and continue with --resume.',
  });
}
