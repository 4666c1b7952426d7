import { z } from 'zod';
import { nodeIpsSchema } from '../base/network/node-ips.ts';
import { RUNTIMES } from '../clients/cri/kind.ts';
import { clusterSchema } from '../config/cluster/cluster.ts';
import { cgroupVersion } from '../host/cgroup.ts';
import type { HostPaths } from '../host/paths.ts';
import { stateFile, stateText } from '../host/state-file.ts';
import type { KeylessInput } from './renderer.ts';

/** Increased when the stored format changes. */
const SCHEMA_VERSION = 1;

/** The contents of the file. */
export const renderInputSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  cluster: clusterSchema,
  host: z.object({
    hostname: z.string(),
    nodeIps: nodeIpsSchema,
    cgroupDriver: z.enum(['systemd', 'cgroupfs']),
    // Earlier releases did not store it.
    cgroupVersion: z.literal([1, 2]).optional(),
    // Earlier releases knew no other.
    containerRuntime: z.enum(RUNTIMES).default('containerd'),
    rootIsOverlay: z.boolean(),
    resolvConf: z.string(),
    images: z.record(z.string(), z.string()),
    versions: z.object({ kubernetes: z.string(), etcd: z.string() }),
    emulates: z
      .string()
      .regex(/^\d+\.\d+$/)
      .optional(),
  }),
  deferredGroups: z.array(z.string()),
});

/** `/etc/sno-agents/render-input.json` (0600: a proxy's URL may contain a password). */
export const renderInputPath = ({ config }: Pick<HostPaths, 'config'>) =>
  `${config}/render-input.json`;

const file = (paths: HostPaths) =>
  stateFile(renderInputPath(paths), renderInputSchema, {
    damaged: {
      expected: `the input of this version of sno-agents, with schemaVersion ${SCHEMA_VERSION}`,
      fix: 'Restore the file from a copy of this disk: the control plane was rendered from it.',
    },
  });

/** Keeps the input on the host, so that pods and leaves can be rendered again. */
export const saveRenderInput = (paths: HostPaths, input: KeylessInput): Promise<void> =>
  file(paths).write(storedRenderInput(input));

/** The contents of the file. */
export const renderInputText = (input: KeylessInput): string =>
  stateText(storedRenderInput(input), false);

/** The contents of the file with that input. */
export const storedRenderInput = ({
  cluster,
  host,
  deferredGroups,
}: KeylessInput): z.infer<typeof renderInputSchema> => ({
  schemaVersion: SCHEMA_VERSION,
  cluster,
  host: { ...host, images: { ...host.images } },
  deferredGroups: [...deferredGroups],
});

/**
 * What this host's control plane was rendered from; undefined on hosts of earlier releases.
 * @throws Failure (fatal) if the file is damaged or from another version
 */
export async function readRenderInput(paths: HostPaths): Promise<KeylessInput | undefined> {
  const stored = await file(paths).read();
  if (stored === undefined) return undefined;
  const { cluster, host, deferredGroups } = stored;
  const known = { ...host, cgroupVersion: host.cgroupVersion ?? (await cgroupVersion()) };
  return { cluster, host: known, deferredGroups };
}
