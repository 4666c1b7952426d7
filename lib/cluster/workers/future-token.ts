import { z } from 'zod';
import {
  type BootstrapToken,
  HOUR_MS,
  newToken,
  TOKEN_HOURS,
} from '../../clients/rights/bootstrap-token.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';

/**
 * The token of an installation's workers, as the Ignition config of the control-plane host has it. The
 * hours begin when that host is installed: before, there is no API server that accepts it, however long
 * it was on its way.
 */
const futureTokenSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9]{6}$/),
  secret: z.string().regex(/^[a-z0-9]{16}$/),
  hours: z.number().int().min(1).max(TOKEN_HOURS.maximum),
});
export type FutureToken = z.infer<typeof futureTokenSchema>;

/** Where it is, 0600, until the end of the installation. */
export const futureTokenPath = ({ assetsTls }: Pick<HostPaths, 'assetsTls'>) =>
  `${assetsTls}/worker-token.json`;

/** The token, accepted from `now` on; undefined if the installation has no workers. */
export async function readFutureToken(
  paths: Pick<HostPaths, 'assetsTls'>,
  now: Date,
): Promise<BootstrapToken | undefined> {
  const file = stateFile(futureTokenPath(paths), futureTokenSchema, {
    damaged: {
      kind: 'usage',
      expected: 'the token of workers, with id, secret and hours',
      fix: 'Create the Ignition config with "sno create" again.',
    },
  });
  const token = await file.read();
  if (token === undefined) return undefined;
  const { id, secret, hours } = token;
  return { id, secret, expires: new Date(now.getTime() + hours * HOUR_MS) };
}

export const createFutureToken = (hours: number): FutureToken => ({
  ...newToken(),
  hours,
});
