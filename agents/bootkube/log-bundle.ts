import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { describeError } from '../../lib/steps/failure.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { LiveContext } from './context.ts';
import { bundleSources, type Source, safeText } from './log-bundle-sources.ts';

export const bundlePath = ({ paths }: LiveContext) =>
  join(paths.assets, 'log-bundle-bootstrap.tar.gz');

/** Of the time that the step has; the rest is for saying that there is no bundle. */
const SHARE_OF_TIME = 0.8;

/**
 * Packs journals, container logs, the objects of the API and the step journal, in
 * the layout of the installer's bundle. Text goes through the redaction of the log;
 * a source that fails leaves its reason in its place. A bundle that cannot be made
 * is a warning: no installation fails for the sake of its logs.
 */
export const logBundle: StepBody<LiveContext> = {
  name: 'log-bundle',
  leaves: '/opt/openshift/log-bundle-bootstrap.tar.gz (0600), if it can be made',
  input: ({ cluster }) => cluster.clusterId,
  // With or without a bundle: the journal says which.
  holds: async () => true,
  async run(context, progress) {
    const limit = AbortSignal.timeout(Math.round(progress.remainingMs() * SHARE_OF_TIME));
    const signal = AbortSignal.any([progress.signal, limit]);
    try {
      const sources = await bundleSources(context);
      await writeFileAtomic(bundlePath(context), await packed(sources, signal), 0o600);
      return done(`${sources.length} files`);
    } catch (error) {
      progress.signal.throwIfAborted();
      const reason = describeError(error);
      progress.warn(`There will be no log bundle: ${reason}`);
      return done(`not made: ${reason}`);
    }
  },
};

/** A gzipped tar archive of what the sources have. */
async function packed(sources: readonly Source[], signal: AbortSignal): Promise<Buffer> {
  const archive = pack();
  const [bytes] = await Promise.all([
    pipeline(archive, createGzip(), buffer, { signal }),
    addAll(archive, sources, signal),
  ]);
  return bytes;
}

/** One after the other, and closed after the last one: nothing is packed half-read. */
async function addAll(archive: Pack, sources: readonly Source[], signal: AbortSignal) {
  for (const source of sources) {
    const text = await safeText(source, signal);
    signal.throwIfAborted();
    archive.entry({ name: `log-bundle-bootstrap/${source.name}`, mode: 0o600 }, text);
  }
  archive.finalize();
}
