import { mkdir } from 'node:fs/promises';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, writeFileAtomic } from '../../lib/host/files.ts';
import { createSealKey, newSealKey } from '../../lib/secrets/seal/credential.ts';
import { sealPlaces } from '../../lib/secrets/seal/places.ts';
import type { PlainHost } from '../steps/host-context.ts';

/**
 * Creates the key of the installed host's sealed files. The TPM of this machine is that host's, and the key is needed
 * before the first file is rendered: whatever is written through lib/secrets/seal/files.ts is then sealed here too. Everything
 * on a live host is in memory.
 */
export const writeSealKey: StepBody<PlainHost> = {
  name: 'seal-key',
  leaves:
    "the key of the installed host's sealed files in memory, and sealed to the machine's TPM; nothing without sealSecrets",
  touches: ['disk', 'firmware'],
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.sealSecrets ?? 'none'],
  holds: async ({ paths, cluster }) =>
    cluster.sealSecrets === undefined || exists(sealPlaces(paths).key),
  async run({ paths, cluster: { sealSecrets }, settings }, progress) {
    if (sealSecrets === undefined) return done('not demanded');
    const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
    // The secret of the installed system does not exist yet: its first boot seals the key.
    const key =
      sealSecrets === 'tpm2'
        ? await createSealKey(paths, { mode: sealSecrets, settings, limits })
        : newSealKey();
    const places = sealPlaces(paths);
    await mkdir(places.memory, { recursive: true, mode: 0o700 });
    await writeFileAtomic(places.key, key, 0o600);
    return done(sealSecrets === 'tpm2' ? "sealed by this machine's TPM" : 'to be sealed later');
  },
};
