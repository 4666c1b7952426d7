import { Failure } from '../../lib/base/errors/failure.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { InPlaceHost } from './context.ts';

/** Judges the memory before anything is written: the files of the bootstrap are there, and the control plane beside them. */
export const memory: StepBody<InPlaceHost> = {
  name: 'memory',
  leaves: 'a host with enough free memory; nothing is written',
  touches: [],
  input: ({ cluster, settings }) => [cluster.clusterId, settings.minFreeMemoryMiB],
  // What is free now is less than before: the bootstrap has begun.
  neededUntil: 'cover-folders',
  holds: async () => true,
  async run({ paths, settings }) {
    const free = await freeMiB(paths);
    const needed = settings.minFreeMemoryMiB;
    if (free >= needed) return done(`${free} MiB are free`);
    throw new Failure('fatal', 'the host has too little memory to bootstrap in it', {
      code: 'preflight-memory',
      expected: `${needed} MiB of free memory`,
      found: `${free} MiB`,
      fix: 'Nothing was written. Give the host more memory and restart it, or install it from a live image.',
    });
  },
};

async function freeMiB(paths: HostPaths): Promise<number> {
  const text = (await readTextIfPresent(paths.at('/proc/meminfo'))) ?? '';
  return Math.floor(Number(/^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024);
}
