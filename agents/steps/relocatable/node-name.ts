import { hostname } from 'node:os';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { writeFileAtomic } from '../../../lib/host/files.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
  readKubeletEnvironment,
} from '../../../lib/host/kubelet-environment.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { HostContext } from '../host-context.ts';

/** From now on the host may have another name than its Node. The kubelet that runs has that name already. */
export const nodeName: StepBody<HostContext> = {
  name: 'node-name',
  leaves: 'the name of the Node, whatever the host is called',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ hostname }) => hostname(),
  holds: async ({ paths, hostname }) =>
    (await readKubeletEnvironment(paths))?.nodeName === hostname(),
  async run({ paths, hostname }) {
    await write(paths, hostname());
    return done(hostname());
  },
};

/** The name of the host decides again. */
export const withoutNodeName: StepBody<HostContext> = {
  name: 'node-name',
  leaves: 'a Node with the name of the host',
  touches: ['disk', 'systemd'],
  retries: true,
  input: () => 'removed',
  holds: async ({ paths }) => (await readKubeletEnvironment(paths))?.nodeName === undefined,
  async run({ paths, hostname: pinned }) {
    if (hostname() !== pinned()) {
      throw new Failure('usage', 'the host has another name than its Node', {
        expected: pinned(),
        found: hostname(),
        fix: `Run "hostnamectl set-hostname ${pinned()}" first.`,
      });
    }
    await write(paths, undefined);
    return done();
  },
};

async function write(paths: HostPaths, name: string | undefined): Promise<void> {
  const { nodeIps } = (await readKubeletEnvironment(paths)) ?? {};
  if (nodeIps === undefined) {
    throw new Failure('fatal', `${kubeletEnvironmentPath(paths)} does not exist`, {
      expected: 'the addresses that the kubelet registers',
    });
  }
  const environment = { nodeIps, ...(name === undefined ? {} : { nodeName: name }) };
  await writeFileAtomic(kubeletEnvironmentPath(paths), kubeletEnvironmentText(environment), 0o644);
}
