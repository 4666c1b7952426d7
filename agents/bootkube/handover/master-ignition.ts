import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterDomain } from '../../../lib/config/cluster/cluster.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import {
  type IgnitionConfig,
  parseConfig,
  serializeConfig,
} from '../../../lib/render/ignition/config.ts';
import { fetchMasterIgnition } from '../../../lib/render/ignition/machine-config-server.ts';
import { OWN_CONFIG_NAME, withOwnConfig } from '../../../lib/render/ignition/own-config.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { nodeIgnition } from './node-ignition.ts';

export const originalMasterPath = ({ paths }: HostContext) =>
  join(paths.assets, 'original-master.ign');

/**
 * Gets the Ignition that makes the host a node of its cluster: from the machine config server if
 * there is one (HTTPS, with the cluster's CA), otherwise rendered here. An empty or invalid one
 * fails now, not at the first boot.
 */
export const masterIgnition: StepBody<HostContext> = {
  name: 'master-ignition',
  leaves: '/opt/openshift/original-master.ign (0600), parsed and valid',
  touches: ['disk', 'network'],
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.machineConfigServerUrl],
  async holds(context) {
    const text = await readTextIfPresent(originalMasterPath(context));
    if (text === undefined) return false;
    parseConfig(text, originalMasterPath(context));
    return true;
  },
  async run(context, progress) {
    const server = machineConfigServer(context);
    const text =
      server === undefined
        ? serializeConfig(await renderedNode(context))
        : await progress.wait(`the master Ignition from ${server.url}`, () =>
            fetched(server, progress.signal),
          );
    await writeFileAtomic(originalMasterPath(context), text, 0o600);
    return done(server === undefined ? 'rendered' : `fetched from ${server.url}`);
  },
};

/** With what `sno create --ignition` has added. */
async function renderedNode(context: HostContext): Promise<IgnitionConfig> {
  const node = await nodeIgnition(context, await pullSecret(context));
  const path = join(context.paths.assets, OWN_CONFIG_NAME);
  const text = await readTextIfPresent(path);
  if (text === undefined) return node;
  return withOwnConfig(node, { origin: path, config: parseConfig(text, path) }).merged;
}

export interface MachineConfigServer {
  readonly url: string;
  /** Path of the CA that signed its certificate. */
  readonly caPath: string;
}

/** On OpenShift it is a static pod of this host, under the name that workers use. */
export function machineConfigServer({
  cluster,
  paths,
}: HostContext): MachineConfigServer | undefined {
  const { machineConfigServerUrl: url, controlPlane } = cluster;
  if (controlPlane === 'openshift') {
    return {
      url: url ?? `https://api-int.${clusterDomain(cluster)}:22623/config/master`,
      caPath: join(paths.assetsTls, 'root-ca.crt'),
    };
  }
  if (url === undefined) return undefined;
  return { url, caPath: join(paths.assetsTls, 'kube-apiserver-serving-ca.crt') };
}

async function fetched({ url, caPath }: MachineConfigServer, signal: AbortSignal): Promise<string> {
  const ca = await readFile(caPath, 'utf8');
  const text = await fetchMasterIgnition({ url, ca, signal, deadlineMs: REQUEST_DEADLINE_MS });
  parseConfig(text, url);
  return text;
}

const pullSecret = ({ paths }: HostContext) =>
  readTextIfPresent(join(paths.kubelet, 'config.json'));
