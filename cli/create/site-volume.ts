import { join, resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { SITE_CONFIG, siteDomain } from '../../lib/config/site-config/site-config.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { type MadeVolume, makeVolume, type Protection } from '../site/make-volume.ts';
import { readShippedFacts, readSite, siteSource } from '../site/read-site.ts';
import { siteNotices } from '../site/site-notices.ts';
import { type SiteMedium, writeMedium } from '../site/write-medium.ts';
import type { Surroundings } from '../surroundings.ts';
import { requireAbsent, writeOutputs } from './outputs.ts';

export interface SiteVolumeOptions extends Protection {
  /** The folder with site-config.yaml; auth goes there. */
  readonly dir: string;
  readonly iso?: string;
  readonly folder?: string;
  readonly hostFacts?: string;
}

/**
 * `sno create site-volume`: the medium that makes a relocatable node the node of a site, and what its administrator keeps.
 *
 * @throws Failure (usage), with nothing written, that names every fault of site-config.yaml
 */
export async function createSiteVolume(
  options: SiteVolumeOptions,
  { environment, print, wrote, notice, signal }: Surroundings,
): Promise<void> {
  const medium = mediumOf(options);
  if (medium.kind === 'iso') await requireIsoPrograms(environment, ['xorriso']);
  const context = { facts: await readShippedFacts(options.hostFacts), now: new Date(), signal };
  const site = await readSite(await siteSource(join(options.dir, SITE_CONFIG)), context);
  const made = await makeVolume(site, options, context);
  await storeVolume(medium, options.dir, made, signal);
  const hidden = made.isEncrypted
    ? 'encrypted for one node'
    : 'not encrypted, without private keys';
  wrote(medium.path, `serial ${made.serial}, ${hidden}`);
  for (const { path } of made.outputs) wrote(join(options.dir, path));
  print(`The node answers at https://api.${siteDomain(site.config)}:6443`);
  const unsigned = options.sign === undefined ? [UNSIGNED] : [];
  for (const text of [...unsigned, ...siteNotices(site, made.isEncrypted, context.now)]) {
    notice(text);
  }
}

/** A notice about a volume without a signature. */
export const UNSIGNED =
  'not signed (--sign): only a node whose factory allows that uses the volume';

function mediumOf({ dir, iso, folder }: SiteVolumeOptions): SiteMedium {
  if (iso !== undefined && folder !== undefined) {
    throw new Failure('usage', '--iso and --folder exclude each other; nothing was written', {
      fix: 'Use one of them for each volume.',
    });
  }
  if (folder !== undefined) return { kind: 'folder', path: resolve(folder) };
  return { kind: 'iso', path: resolve(iso ?? join(dir, 'site-volume.iso')) };
}

/** Writes the medium and what stays on the laptop, or nothing. */
export async function storeVolume(
  medium: SiteMedium,
  dir: string,
  { files, outputs }: MadeVolume,
  signal: AbortSignal,
): Promise<void> {
  const own = outputs.map(({ path, contents }) => ({ path: join(dir, path), contents }));
  await requireAbsent(
    [medium.path, ...own.map(({ path }) => path)],
    'Move it away: each volume has credentials of its own.',
  );
  signal.throwIfAborted();
  await writeMedium(medium, files, signal, () => writeOutputs(own));
}
