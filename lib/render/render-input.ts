import { z } from 'zod';
import { Failure } from '../base/errors/failure.ts';
import { parseJson } from '../base/json.ts';
import { nodeIpsSchema } from '../base/network/node-ips.ts';
import { RUNTIMES } from '../clients/cri/kind.ts';
import { clusterSchema } from '../config/cluster/cluster.ts';
import { readTextIfPresent, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
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

/** Keeps the input on the host, so that pods and leaves can be rendered again. */
export async function saveRenderInput(paths: HostPaths, input: KeylessInput): Promise<void> {
  await writeFileAtomic(renderInputPath(paths), renderInputText(input), 0o600);
}

/** The contents of the file. */
export function renderInputText(input: KeylessInput): string {
  return `${JSON.stringify(storedRenderInput(input))}\n`;
}

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
  const text = await readTextIfPresent(renderInputPath(paths));
  if (text === undefined) return undefined;
  const parsed = renderInputSchema.safeParse(parseJson(text));
  if (parsed.success) {
    const { cluster, host, deferredGroups } = parsed.data;
    return { cluster, host, deferredGroups };
  }
  throw new Failure('fatal', `${renderInputPath(paths)} cannot be used`, {
    expected: `the input of this version of sno-agents, with schemaVersion ${SCHEMA_VERSION}`,
    found: z.prettifyError(parsed.error),
  });
}
