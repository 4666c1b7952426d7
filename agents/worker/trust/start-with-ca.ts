import { readFile } from 'node:fs/promises';
import { trustDigest } from '../../../lib/cluster/workers/api-trust.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { kubeletTrust } from '../../../lib/render/kubernetes/kubelet.ts';
import { restartKubelet } from '../../steps/kubelet.ts';
import type { TrustContext } from './context.ts';
import { readByKubelet, recordReadByKubelet } from './kubelet-record.ts';

/** Restarts the kubelet if it has not read the present file. Its containers keep running. */
export const startWithCa: StepBody<TrustContext> = {
  name: 'kubelet',
  leaves: `a kubelet that was started with the present ${kubeletTrust.api}`,
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ run }) => run,
  holds: async ({ paths }) => (await readByKubelet(paths)) === (await presentDigest(paths)),
  async run({ paths }, progress) {
    const digest = await presentDigest(paths);
    if ((await readByKubelet(paths)) === digest) return done('no restart');
    progress.say(
      'Restarting the kubelet, which reads the CAs of the API server only when it starts',
    );
    await restartKubelet(paths, progress);
    await recordReadByKubelet(paths, digest);
    return done('restarted');
  },
};

const presentDigest = async (paths: HostPaths): Promise<string> =>
  trustDigest(await readFile(paths.at(kubeletTrust.api), 'utf8'));
