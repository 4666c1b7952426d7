import { mkdir } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import { exists, namesIn, removeOverwritten, writeFileAtomic } from '../../../lib/host/files.ts';
import { mountedType } from '../../../lib/host/mounted-type.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import {
  createSealKey,
  openSealKey,
  sealHandedOver,
} from '../../../lib/secrets/seal/credential.ts';
import type { SealMode } from '../../../lib/secrets/seal/mode.ts';
import { sealPlaces } from '../../../lib/secrets/seal/places.ts';
import type { PlainHost } from '../../steps/host-context.ts';

/**
 * Opens the key of the host's sealed files into memory. At the first boot it creates one, unless a live host has done so.
 * Unlike a tmpfs, ramfs is never swapped to a disk.
 */
export const openKey: StepBody<PlainHost> = {
  name: 'open-key',
  leaves: '/run/sno-agents/sealed, in memory, with the key of the sealed files',
  touches: ['disk', 'firmware'],
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.sealSecrets ?? 'none'],
  holds: ({ paths }) => exists(sealPlaces(paths).key),
  async run({ paths, cluster, settings }, progress) {
    const mode = cluster.sealSecrets;
    if (mode === undefined) throw notDemanded();
    const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
    const sealing = { mode, settings, limits };
    const known = (await openSealKey(paths, sealing)) ?? (await sealHandedOver(paths, sealing));
    if (known === undefined) await requireNew(paths);
    const key = known ?? (await createSealKey(paths, sealing));
    // Also what an earlier start has sealed, if it was killed here.
    await removeOverwritten(sealPlaces(paths).handedOver);
    await mountMemory(paths, progress);
    await writeFileAtomic(sealPlaces(paths).key, key, 0o600);
    return done(known === undefined ? `created, sealed by ${describe(mode)}` : describe(mode));
  },
};

const describe = (mode: SealMode) =>
  mode === 'tpm2' ? "the host's TPM" : "the secret of the host's systemd";

const notDemanded = () =>
  new Failure('usage', 'this host is not to be sealed', {
    expected: 'sealSecrets host or tpm2 in cluster.json',
    fix: 'Disable sno-unseal.service.',
  });

/** A key that is gone must not be replaced: its files could never be opened again. */
async function requireNew(paths: HostPaths): Promise<void> {
  const { copies, credential } = sealPlaces(paths);
  if ((await namesIn(copies)).length === 0 && !(await exists(paths.record))) return;
  throw new Failure('fatal', "the key of this host's sealed files is gone", {
    code: 'sealed-file-damaged',
    subject: paths.onHost(credential),
    fix: 'Restore the file from a copy of this disk. Without it, install the host again.',
  });
}

async function mountMemory(paths: HostPaths, progress: Progress): Promise<void> {
  const { memory } = sealPlaces(paths);
  await mkdir(memory, { recursive: true, mode: 0o700 });
  if ((await mountedType(paths, memory)) === 'ramfs') return;
  const options = 'mode=0700,nosuid,nodev,noexec';
  await run('mount', ['-t', 'ramfs', '-o', options, 'sno-sealed', memory], {
    signal: progress.signal,
    deadlineMs: progress.remainingMs(),
  });
}
