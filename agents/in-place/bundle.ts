import { lstat, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { inPlacePlaces, mediumBundle } from '../../lib/cluster/installation/in-place/places.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { fetchFile } from '../../lib/host/fetch.ts';
import { ifMissing, sha256OfFile, syncDirectory, syncFile } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { InPlaceHost } from './context.ts';

/** Manifests and images of manifests, encrypted. */
const MOST_BYTES = 64 << 20;

/**
 * Fetches the bundle, once, or copies it from the medium: it stays on the disk as it is, encrypted, so that a power cut
 * before the end of the bootstrap needs neither a second answer of a URL that gives one only, nor the medium.
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
  async run({ paths, cluster }, progress) {
    const { bundle } = cluster;
    const { signal } = progress;
    const target = inPlacePlaces(paths).bundle;
    const partial = `${target}.partial`;
    let found = await digestOf(partial, signal);
    // If it is complete, the agent was killed after the answer, perhaps the only one. Else it is not continued: a power cut
    // may have damaged its beginning.
    if (found !== bundle.sha256) {
      await rm(partial, { force: true });
      if (bundle.url === undefined) await copyFromMedium(paths, partial, signal);
      else await fetchFrom(bundle.url, partial, cluster, progress);
      found = await digestOf(partial, signal);
    }
    if (found !== bundle.sha256) {
      await rm(partial, { force: true });
      throw new Failure('fatal', 'what was given as the bundle of this host is another file', {
        code: 'bundle-mismatch',
        expected: `SHA-256 ${bundle.sha256}`,
        found: found ?? 'no file',
        fix: 'Serve the in-place.bundle, or connect the medium, that was created together with the Ignition config of this host, and run "systemctl restart sno-in-place.service".',
      });
    }
    await syncFile(partial);
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return done('It can be deleted from its server now');
  },
};

async function fetchFrom(
  url: string,
  partial: string,
  { proxy }: InPlaceHost['cluster'],
  progress: Progress,
): Promise<void> {
  await progress.wait('the bundle of this host', () =>
    fetchFile(url, partial, MOST_BYTES, {
      ...(proxy === undefined ? {} : { proxy }),
      signal: progress.signal,
      deadlineMs: progress.remainingMs(),
    }).catch((error: unknown) => {
      throw error instanceof Failure ? notFetched(error) : error;
    }),
  );
}

async function copyFromMedium(
  paths: HostPaths,
  partial: string,
  signal: AbortSignal,
): Promise<void> {
  const source = mediumBundle(paths);
  const found = await lstat(source).catch(ifMissing);
  if (found?.isFile() !== true || found.size > MOST_BYTES) {
    throw new Failure('retry', 'the medium with the bundle of this host is not there', {
      code: 'bundle-gone',
      expected: `${paths.onHost(source)}, a file of at most ${MOST_BYTES} bytes`,
      found: found?.isFile() === true ? `${found.size} bytes` : 'no such file',
      fix: 'Connect the medium that "sno create in-place-ignition --medium-iso" wrote together with the Ignition config of this host, and restart the host.',
    });
  }
  await copyFile(source, partial, 0o600, signal);
}

const digestOf = (path: string, signal: AbortSignal) => sha256OfFile(path, signal).catch(ifMissing);

/** Without the URL: whoever knows it could fetch the bundle first. */
const notFetched = ({ kind, details: { found = 'no answer' } }: Failure): Failure =>
  new Failure(kind, 'the bundle of this host cannot be fetched', {
    code: 'bundle-gone',
    expected: 'in-place.bundle at its URL, once',
    found,
    fix: 'Serve it there again and run "systemctl restart sno-in-place.service". If somebody else has fetched it, create another Ignition config and another bundle.',
  });
