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

type ServerVersion = z.infer<typeof versionSchema>;

/** What an API server says of itself; for everyone who is known to it. */
export async function serverVersion(client: KubeClient, limits: Limits): Promise<ServerVersion> {
  return client.answer(versionSchema, { method: 'GET', path: '/version' }, limits);
}

/** The minor version that it serves as: while it emulates an earlier one, that. Undefined if it tells none. */
export const servedMinor = ({
  emulationMajor,
  emulationMinor,
  gitVersion,
}: ServerVersion): Minor | undefined =>
  minorOf(`${emulationMajor}.${emulationMinor}.0`) ?? minorOf(gitVersion);
