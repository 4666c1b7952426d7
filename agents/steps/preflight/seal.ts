import { describeError } from '../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../lib/base/errors/failure-data.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../../lib/engine/steps/status.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { trySealing } from '../../../lib/secrets/seal/credential.ts';
import { sealKey } from '../../../lib/secrets/seal/files.ts';
import { REQUEST_DEADLINE_MS } from '../request-deadline.ts';
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

/**
 * On a live host, whose machine has the TPM of the installed one: it seals and opens something, before a disk is written.
 * The secret of the installed system's systemd does not exist before that system's first boot.
 */
export const liveSealCheck: Check = {
  name: 'seal',
  code: 'seal-unavailable',
  async run({ settings, cluster: { sealSecrets }, signal }) {
    if (sealSecrets === undefined) return good('keys are not to be sealed');
    if (sealSecrets === 'host') return good('the installed host seals its keys at its first boot');
    const moving = pcrsIn(settings.tpm2Pcrs).filter((pcr) => !SAME_FROM_DISK.includes(pcr));
    if (moving.length > 0) {
      return bad(
        `PCR ${moving.join(', ')} is not the same when the host starts from its disk, which could not open the keys`,
        `Set tpm2Pcrs in settings.json to some of ${SAME_FROM_DISK.join(', ')}.`,
      );
    }
    try {
      const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
      await trySealing({ mode: sealSecrets, settings, limits });
      return good("keys can be sealed to this machine's TPM");
    } catch (error) {
      return bad(
        `keys cannot be sealed to this machine's TPM: ${describeError(error)}`,
        'Turn the TPM on in the firmware, or use another host or another sealSecrets in install-config.yaml.',
      );
    }
  },
};

/**
 * The PCRs whose values do not depend on what is started (TCG PC Client Platform Firmware Profile, section 3.3.4;
 * shim's README.tpm): firmware, its drivers, Secure Boot with the certificates that were used, the Machine Owner Keys, and
 * the two for debugging and applications. Not 1, which includes the boot order, and neither the boot loader,
 * partition table, command line and kernel.
 */
const SAME_FROM_DISK: readonly string[] = ['0', '2', '3', '7', '14', '16', '23'];

/** The numbers in the notation of `systemd-creds --tpm2-pcrs`, as far as there are any. */
const pcrsIn = (text: string): string[] => text.match(/\d+(?=[+,:\s]|$)/g) ?? [];

async function reason(paths: HostPaths): Promise<string> {
  const failure = (await readStatus(statusPath(paths, 'sno-unseal')))?.failure;
  return failure === undefined
    ? 'sno-unseal has not ended'
    : describeError(failureFromData(failure));
}
