import { chmod, mkdir, readFile, readlink } from 'node:fs/promises';
import { Decrypter } from 'age-encryption';
import { endsInTime } from '../../lib/base/age-header.ts';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { inPlacePlaces } from '../../lib/cluster/installation/in-place/places.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { ifMissing, writeFileAtomic } from '../../lib/host/files.ts';
import { replaceLinks } from '../../lib/host/links.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { type PlainEntries, plainEntries } from '../../lib/render/ignition/plain-entries.ts';
import { effectiveConfig } from '../../lib/render/ignition/validate.ts';
import { requireApplicable } from '../steps/in-place/applicable.ts';
import type { InPlaceHost } from './context.ts';

/** Units there are gone after a restart. */
export const RUN_UNITS = '/run/systemd/system';

/**
 * Opens the bundle: the files of a live host into the folders in memory, its units into /run. What the site gave the
 * host is on the disk already, by the Ignition config, and stays.
 */
export const openBundle: StepBody<InPlaceHost> = {
  name: 'open',
  leaves: 'the files and units of a live host, in memory',
  touches: ['disk'],
  neededUntil: 'start',
  input: ({ cluster }) => [cluster.clusterId, cluster.bundle.sha256],
  async holds(host) {
    const { files, links } = await entriesOf(host);
    for (const { path, contents } of files) {
      const found = await readFile(host.paths.at(path)).catch(ifMissing);
      if (found?.equals(contents) !== true) return false;
    }
    for (const { path, target } of links) {
      if ((await readlink(host.paths.at(path)).catch(() => undefined)) !== target) return false;
    }
    return true;
  },
  async run(host) {
    const { paths } = host;
    const { directories, files, links } = await entriesOf(host);
    for (const { path, mode } of directories) {
      await mkdir(paths.at(path), { recursive: true, mode });
      await chmod(paths.at(path), mode);
    }
    for (const { path, contents, mode } of files) {
      const found = await readFile(paths.at(path)).catch(ifMissing);
      if (found?.equals(contents) !== true) await writeFileAtomic(paths.at(path), contents, mode);
    }
    await replaceLinks(paths, links);
    return done(`${files.length} files`);
  },
};

/** What is in the bundle. @throws Failure (fatal) for another one than that of this host */
export async function entriesOf({ paths, cluster }: InPlaceHost): Promise<PlainEntries> {
  const encrypted = await readFile(inPlacePlaces(paths).bundle);
  const text = await decrypted(encrypted, cluster.bundle.key);
  const { config } = effectiveConfig(parseConfig(text, 'the bundle'));
  requireApplicable('the bundle', config);
  return plainEntries(config, RUN_UNITS);
}

async function decrypted(encrypted: Buffer, key: string): Promise<string> {
  try {
    if (!endsInTime(encrypted)) throw new Error('no header of age at its beginning');
    const decrypter = new Decrypter();
    decrypter.addIdentity(key);
    return await decrypter.decrypt(encrypted, 'text');
  } catch (error) {
    throw new Failure('fatal', 'the bundle cannot be opened with the key of this host', {
      code: 'bundle-mismatch',
      expected: 'the bundle that was created together with the Ignition config of this host',
      found: describeError(error),
      fix: 'Create both again, and write the image to this disk again.',
    });
  }
}
