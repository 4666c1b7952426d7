import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { servingPair } from '../../steps/approve-until.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { isUsable } from '../../steps/leaf-files.ts';

/** A kubelet without a certificate asks for its first one, which the installation approves. */
async function isDue(paths: HostPaths): Promise<boolean> {
  const pem = await servingPair(paths);
  return pem !== undefined && !isUsable(pem, new Date());
}

/**
 * Has sno-renew started with the kubelet (sno-renew.path) where the kubelet's own serving certificate is not valid: after a
 * long time off, or by a clock that was fast when it was issued. Nobody else approves the next one, and until then there are no
 * logs of pods and no `kubectl exec`.
 */
export const requestRenewal: StepBody<HostContext> = {
  name: 'request-renewal',
  leaves: 'sno-renew asked for where the serving certificate of the kubelet is not valid',
  touches: ['disk', 'clock'],
  retries: true,
  input: () => null,
  holds: async ({ paths }) => (await exists(paths.renewalDue)) || !(await isDue(paths)),
  async run({ paths }) {
    await mkdir(dirname(paths.renewalDue), { recursive: true, mode: 0o755 });
    await writeFile(paths.renewalDue, '', { mode: 0o600 });
    return done("the kubelet's serving certificate is not valid");
  },
};
