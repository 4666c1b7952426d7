import { productVersion } from '../../../../lib/base/version.ts';
import type { Prepared } from '../../../../lib/change/update/prepared.ts';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import { readCluster } from '../../../../lib/config/cluster/read-cluster.ts';
import { agentLinks } from '../../../../lib/engine/agents/links.ts';
import { agentsOf, WORKER_AGENTS } from '../../../../lib/engine/agents/table.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import { readPayload } from '../../../../lib/payload/payload.ts';
import { cniFileFor } from '../../../../lib/render/kubernetes/cni.ts';
import { workerKubeletFile } from '../../../../lib/render/kubernetes/kubelet.ts';
import { podEgressFile } from '../../../../lib/render/kubernetes/pod-egress.ts';
import type { RenderedFile } from '../../../../lib/render/renderer.ts';
import { joinedWorkerUnits } from '../../../../units/worker.ts';
import { plainHost } from '../../../steps/host-context.ts';
import { kubeletFacts } from '../../../steps/kubelet-facts.ts';
import { asNode } from '../../../steps/own-node.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import {
  clusterFile,
  differing,
  digestFiles,
  digestsOf,
  type NewParts,
  newLinks,
  newUnits,
  unitFiles,
  withDigests,
} from '../wanted-files.ts';

/**
 * Run by the new executable before anything is changed: what it needs on this worker. The worker's identity and
 * the CAs that its kubelet trusts stay as they are.
 */
export async function prepareWorkerUpdate(
  paths: HostPaths,
  update: NewParts,
  signal: AbortSignal,
): Promise<Prepared> {
  const payload = await readPayload(update.payloadFolder);
  const digests = await digestsOf(update, signal);
  const cluster = withDigests(await readCluster(paths), digests);
  const host = await kubeletFacts(paths, payload, signal);
  const kubelet = workerKubeletFile({ cluster, host });
  return {
    schemaVersion: 1,
    version: productVersion,
    files: await differing(paths, [
      ...[kubelet, podEgressFile(cluster), await podNetworkFile(paths, signal)].map(
        ({ path, contents, mode }) => ({ path, contents, mode }),
      ),
      ...unitFiles(joinedWorkerUnits),
      clusterFile(cluster),
      ...digestFiles(digests),
    ]),
    enable: await newUnits(paths, joinedWorkerUnits),
    links: await newLinks(paths, agentLinks([...agentsOf('joined'), ...WORKER_AGENTS, 'gather'])),
    manifests: [],
  };
}

/** Of the subnets that its Node has: they never change. */
async function podNetworkFile(paths: HostPaths, signal: AbortSignal): Promise<RenderedFile> {
  const host = await plainHost(paths);
  using client = await asNode(host);
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const { spec } = await client.get(resources.nodes, { name: host.hostname() }, limits);
  return cniFileFor(spec?.podCIDRs ?? []);
}
