import { z } from 'zod';
import { type Minor, minorOf } from '../../base/minor.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';

const versionSchema = z.looseObject({
  gitVersion: z.string(),
  /** What it serves as, since 1.33; numbers as text. */
  emulationMajor: z.string().optional(),
  emulationMinor: z.string().optional(),
});

/** The minor version that an API server serves as: while it emulates an earlier one, that. Undefined if it tells none. */
export async function servedMinor(client: KubeClient, limits: Limits): Promise<Minor | undefined> {
  const version = versionSchema.parse(
    await client.json({ method: 'GET', path: '/version' }, limits),
  );
  const { emulationMajor, emulationMinor, gitVersion } = version;
  return minorOf(`${emulationMajor}.${emulationMinor}.0`) ?? minorOf(gitVersion);
}
