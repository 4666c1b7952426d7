import { join } from 'node:path';
import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

/** What kubelet.service is started with. */
export interface KubeletEnvironment {
  /** The addresses that the Node registers, the primary one first. */
  readonly nodeIps: readonly string[];
  /** The name of the Node, where it does not follow the name of the host. */
  readonly nodeName?: string;
}

/** `/etc/sno-agents/kubelet.env`, the EnvironmentFile of kubelet.service. */
export const kubeletEnvironmentPath = ({ config }: Pick<HostPaths, 'config'>): string =>
  join(config, 'kubelet.env');

/** The contents of the file. */
export function kubeletEnvironmentText({ nodeIps, nodeName }: KubeletEnvironment): string {
  const name = nodeName === undefined ? '' : `KUBELET_NODE_NAME=${nodeName}\n`;
  return `KUBELET_NODE_IPS=${nodeIps.join(',')}\n${name}`;
}

/** Undefined while nothing has fixed the addresses. */
export async function readKubeletEnvironment(
  paths: Pick<HostPaths, 'config'>,
): Promise<KubeletEnvironment | undefined> {
  const text = (await readTextIfPresent(kubeletEnvironmentPath(paths))) ?? '';
  const read = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1]?.trim();
  const nodeIps = read('KUBELET_NODE_IPS');
  if (nodeIps === undefined) return undefined;
  const nodeName = read('KUBELET_NODE_NAME');
  return {
    nodeIps: nodeIps.split(',').map((each) => each.trim()),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}
