import { z } from 'zod';
import { readGoDocuments } from '../../base/go-yaml/read.ts';
import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { RenderedManifest } from '../renderer.ts';

/** Of openshift-install: the cluster's networks, whose status the network operator writes. */
const FILE = 'cluster-network-02-config.yml';

const networkSchema = z.looseObject({
  kind: z.literal('Network'),
  spec: z.looseObject({
    clusterNetwork: z.array(z.unknown()).min(1),
    serviceNetwork: z.array(z.string()).min(1),
    networkType: z.string(),
  }),
  status: z.looseObject({ clusterNetwork: z.unknown() }).partial().nullish(),
});

/**
 * With the networks in the status of the Network, where the static pod operators look for them: without it, the
 * API server's has no first revision until the network operator runs, and the controller-manager's has a
 * second one then. The network operator writes the same there, as long as the networks are not changed.
 */
export function withNetworkStatus(manifests: readonly RenderedManifest[]): RenderedManifest[] {
  return manifests.map((manifest) => {
    if (manifest.name !== FILE) return manifest;
    const parsed = networkSchema.safeParse(onlyDocument(manifest.contents));
    if (!parsed.success || parsed.data.status?.clusterNetwork != null) return manifest;
    const { spec } = parsed.data;
    const { clusterNetwork, serviceNetwork, networkType } = spec;
    const status = { ...parsed.data.status, clusterNetwork, serviceNetwork, networkType };
    return { ...manifest, contents: writeGoYaml({ ...parsed.data, status }) };
  });
}

/** Undefined if there are several, or none that can be read: applying the file is what reports it. */
function onlyDocument(text: string): unknown {
  const [document, ...more] = readGoDocuments(text);
  return more.length === 0 && document !== undefined && 'value' in document
    ? document.value
    : undefined;
}
