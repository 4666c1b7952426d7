import { z } from 'zod';
import { proxySchema } from '../../../config/cluster/cluster.ts';
import type { HostPaths } from '../../../host/paths.ts';
import { stateFile } from '../../../host/state-file.ts';
import { inPlacePlaces } from './places.ts';

/**
 * What the user data of a host that bootstraps on its own disk says of it: which cluster it becomes, and where the rest
 * is, which is encrypted. The key is worth something only together with the bundle, which is fetched once.
 */
const configSchema = z.strictObject({
  apiVersion: z.literal('sno-agents/v1'),
  clusterId: z.uuid(),
  name: z.string(),
  baseDomain: z.string(),
  proxy: proxySchema.optional(),
  bundle: z.strictObject({
    /** Default: that of the medium (`mediumBundle`). */
    url: z.url().optional(),
    /** Hex, of the encrypted bundle. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    /** An identity of age. */
    key: z.string().startsWith('AGE-SECRET-KEY-1'),
  }),
});

export type InPlaceConfig = z.infer<typeof configSchema>;

/** 0600: the key of the bundle is in it. */
export const inPlaceConfigFile = (paths: HostPaths) =>
  stateFile(inPlacePlaces(paths).config, configSchema, {
    damaged: {
      kind: 'usage',
      expected: 'what "sno create in-place-ignition" wrote into the Ignition config',
      fix: 'Create the Ignition config again, and write the image to this disk again with it.',
    },
  });
