import { describeError } from '../../../lib/errors/failure.ts';
import { failureFromData } from '../../../lib/errors/failure-data.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { sealKey } from '../../../lib/seal/files.ts';
import { statusPath } from '../../../lib/steps/reporter.ts';
import { readStatus } from '../../../lib/steps/status.ts';
import { bad, type Check, good } from './check.ts';

/** Where keys are to be sealed, sno-unseal must have made or opened their key: without it, none is created. */
export const sealCheck: Check = {
  name: 'seal',
  code: 'seal-unavailable',
  async run({ paths, cluster: { sealSecrets } }) {
    if (sealSecrets === undefined) return good('keys are not to be sealed');
    const what = sealSecrets === 'tpm2' ? "this host's TPM" : "the secret of this host's systemd";
    const key = await sealKey(paths).catch(() => undefined);
    if (key !== undefined) return good(`keys are sealed to ${what}`);
    return bad(
      `keys cannot be sealed to ${what}: ${await reason(paths)}`,
      'See "journalctl -u sno-unseal". Turn the TPM on in the firmware, or use another host or another sealSecrets in install-config.yaml.',
    );
  },
};

async function reason(paths: HostPaths): Promise<string> {
  const failure = (await readStatus(statusPath(paths, 'sno-unseal')))?.failure;
  return failure === undefined
    ? 'sno-unseal has not ended'
    : describeError(failureFromData(failure));
}
