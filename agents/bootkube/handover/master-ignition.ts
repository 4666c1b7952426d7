import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { parseConfig, serializeConfig } from '../../../lib/ignition/config.ts';
import { fetchMasterIgnition } from '../../../lib/ignition/machine-config-server.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
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
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.machineConfigServerUrl],
  async holds(context) {
    const text = await readTextIfPresent(originalMasterPath(context));
    if (text === undefined) return false;
    parseConfig(text, originalMasterPath(context));
    return true;
  },
  async run(context, progress) {
    const { cluster, paths } = context;
    const url = cluster.machineConfigServerUrl;
    const text =
      url === undefined
        ? serializeConfig(await nodeIgnition(context, await pullSecret(context)))
        : await progress.wait(`the master Ignition from ${url}`, () =>
            fetched(url, paths, progress.signal),
          );
    await writeFileAtomic(originalMasterPath(context), text, 0o600);
    return done(url === undefined ? 'rendered' : `fetched from ${url}`);
  },
};

async function fetched(url: string, paths: HostPaths, signal: AbortSignal): Promise<string> {
  const ca = await readFile(join(paths.assetsTls, 'kube-apiserver-serving-ca.crt'), 'utf8');
  const text = await fetchMasterIgnition({ url, ca, signal, deadlineMs: REQUEST_DEADLINE_MS });
  parseConfig(text, url);
  return text;
}

const pullSecret = ({ paths }: HostContext) =>
  readTextIfPresent(join(paths.kubelet, 'config.json'));
