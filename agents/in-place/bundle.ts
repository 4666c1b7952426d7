import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { inPlacePlaces } from '../../lib/cluster/installation/in-place/places.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { fetchFile } from '../../lib/host/fetch.ts';
import { ifMissing, sha256OfFile, syncDirectory, syncFile } from '../../lib/host/files.ts';
import type { InPlaceHost } from './context.ts';

/** Manifests and images of manifests, encrypted. */
const MOST_BYTES = 64 << 20;

/**
 * Fetches the bundle, once: it stays on the disk as it is, encrypted, so that a power cut before the end of the
 * bootstrap needs no second answer of a URL that gives one only.
 */
export const fetchBundle: StepBody<InPlaceHost> = {
  name: 'bundle',
  leaves: 'the bundle on the disk, encrypted, with the SHA-256 of the Ignition config',
  touches: ['disk', 'network'],
  retries: true,
  neededUntil: 'open',
  input: ({ cluster }) => [cluster.clusterId, cluster.bundle.sha256],
  holds: async ({ paths, cluster }, { signal }) =>
    (await digestOf(inPlacePlaces(paths).bundle, signal)) === cluster.bundle.sha256,
  async run({ paths, cluster: { bundle, proxy } }, progress) {
    const { signal } = progress;
    const target = inPlacePlaces(paths).bundle;
    const partial = `${target}.partial`;
    let found = await digestOf(partial, signal);
    // If it is complete, the agent was killed after the answer, perhaps the only one. Else it is not continued: a power cut
    // may have damaged its beginning.
    if (found !== bundle.sha256) {
      await rm(partial, { force: true });
      await progress.wait('the bundle of this host', () =>
        fetchFile(bundle.url, partial, MOST_BYTES, {
          ...(proxy === undefined ? {} : { proxy }),
          signal,
          deadlineMs: progress.remainingMs(),
        }).catch((error: unknown) => {
          throw error instanceof Failure ? notFetched(error) : error;
        }),
      );
      found = await digestOf(partial, signal);
    }
    if (found !== bundle.sha256) {
      await rm(partial, { force: true });
      throw new Failure(
        'fatal',
        'what the URL of the bundle gives is not the bundle of this host',
        {
          code: 'bundle-mismatch',
          expected: `SHA-256 ${bundle.sha256}`,
          found: found ?? 'no file',
          fix: 'Serve the in-place.bundle that was created together with the Ignition config of this host, and run "systemctl restart sno-in-place.service".',
        },
      );
    }
    await syncFile(partial);
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return done('It can be deleted from its server now');
  },
};

const digestOf = (path: string, signal: AbortSignal) => sha256OfFile(path, signal).catch(ifMissing);

/** Without the URL: whoever knows it could fetch the bundle first. */
const notFetched = ({ kind, details: { found = 'no answer' } }: Failure): Failure =>
  new Failure(kind, 'the bundle of this host cannot be fetched', {
    code: 'bundle-gone',
    expected: 'in-place.bundle at its URL, once',
    found,
    fix: 'Serve it there again and run "systemctl restart sno-in-place.service". If somebody else has fetched it, create another Ignition config and another bundle.',
  });
