import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../../lib/host/files.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
} from '../../../../lib/host/kubelet-environment.ts';
import type { PlainHost } from '../../../steps/host-context.ts';
import type { FixedNode } from './accept.ts';

type Context = Pick<PlainHost, 'paths'> & { readonly node: FixedNode };

/**
 * Writes address and name of the Node where the agents read them on every host. OpenShift's kubelet has them from the drop-in of the
 * MachineConfig, and does not read this file.
 */
export const nodeRecord: StepBody<Context> = {
  name: 'node-record',
  leaves: 'the address and the name of the Node, for the agents',
  touches: ['disk'],
  input: ({ node }) => node,
  holds: async ({ paths, node }) =>
    (await readTextIfPresent(kubeletEnvironmentPath(paths))) === textOf(node),
  async run({ paths, node }) {
    await writeFileAtomic(kubeletEnvironmentPath(paths), textOf(node), 0o644);
    return done(`${node.nodeName}, ${node.address}`);
  },
};

export const withoutNodeRecord: StepBody<Pick<PlainHost, 'paths'>> = {
  name: 'node-record',
  leaves: 'no record of the Node for the agents; the MachineConfig stays',
  touches: ['disk'],
  input: () => 'removed',
  holds: async ({ paths }) =>
    (await readTextIfPresent(kubeletEnvironmentPath(paths))) === undefined,
  async run({ paths }) {
    await removeFile(kubeletEnvironmentPath(paths));
    return done();
  },
};

const textOf = ({ address, nodeName }: FixedNode): string =>
  kubeletEnvironmentText({ nodeIps: [address], nodeName });
