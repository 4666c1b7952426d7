/**
 * A boot of a sealed host in a mount namespace of its own: with the end of this process, what it has mounted in memory is
 * gone. Arguments: the root of the host, `host` or `tpm2`, the TPM, and what to do: when it is open, or before, to have its
 * files handed over by a live host. Prints the SHA-256 of each file in the sealed folders, and the fingerprints of the
 * keys in them, as JSON.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asOnDisk } from '../../../agents/bootkube/handover/sealed-copies.ts';
import { saveStaged } from '../../../agents/steps/certificates/changes.ts';
import { unsealPlan } from '../../../agents/upkeep/unseal/plan.ts';
import { runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import { sha256, writeFileAtomic } from '../../../lib/host/files.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { aioHost, neededBy, sealedInstalledHost } from '../../../lib/render/hosts.ts';
import { keyFingerprintsIn } from '../../../lib/render/private-keys.ts';
import { placeFiles, saveRendered } from '../../../lib/render/store.ts';
import { createSealKey, newSealKey } from '../../../lib/secrets/seal/credential.ts';
import { SEAL_MODES } from '../../../lib/secrets/seal/mode.ts';
import { SEALED_FOLDERS, sealPlaces } from '../../../lib/secrets/seal/places.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { rendered } from '../../unit/render/rendered-host.ts';

const [root = '', given = '', tpm2Device = '', action = ''] = process.argv.slice(2);
const paths = hostPaths(root);
const settings = { ...defaultSettings, tpm2Device, unsealKeyMs: 3000, retryMs: 500 };
const sealSecrets = SEAL_MODES.find((mode) => mode === given);
const context = {
  paths,
  settings,
  cluster: { ...cluster, sealSecrets },
  hostname: () => 'edge-0',
  bootTime: async () => new Date(),
};
if (action === 'hand-over') await handOver();
const code = await runAgentCommand(
  { plan: unsealPlan(settings), paths, context: async () => context },
  ['run'],
  { write: (line) => process.stderr.write(line), isJournal: false },
);
if (action === 'place' || (code === 0 && action === 'install')) {
  await saveRendered(paths, 'input', { hostname: 'edge-0', nodeIps: ['192.0.2.10'] }, rendered);
  await placeFiles(paths, aioHost, rendered);
  // A rotation that is cut: its new keys are on the disk, too.
  const changes = rendered.files.map(({ path, contents, mode }) => ({ path, contents, mode }));
  await saveStaged(paths, {
    schemaVersion: 1,
    id: 'cut',
    phases: { 'trust-both': changes, 'use-new': [], 'trust-new': [] },
    retired: [],
  });
}
const files: Record<string, string> = {};
const keys = new Set<string>();
for (const folder of SEALED_FOLDERS) {
  const all = { recursive: true, withFileTypes: true } as const;
  const found = await readdir(paths.at(folder), all).catch(() => []);
  for (const { parentPath, name } of found.filter((each) => each.isFile())) {
    const contents = await readFile(join(parentPath, name), 'utf8');
    files[paths.onHost(join(parentPath, name))] = sha256(contents);
    for (const key of keyFingerprintsIn(contents)) keys.add(key);
  }
}
process.stdout.write(JSON.stringify({ files, keys: [...keys] }));
process.exitCode = code;

/** What a live host, with a root of its own and the same TPM, puts into the Ignition config of this one. */
async function handOver(): Promise<void> {
  if (sealSecrets === undefined) throw new Error('it is not to be sealed');
  const live = hostPaths(`${root}-live`);
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
  const key =
    sealSecrets === 'tpm2'
      ? await createSealKey(live, { mode: sealSecrets, settings, limits })
      : newSealKey();
  await writeFileAtomic(sealPlaces(live).key, key, 0o600);
  const { directories, files } = await asOnDisk(
    { paths: live, cluster: context.cluster },
    {
      directories: neededBy(sealedInstalledHost, rendered.directories),
      files: neededBy(sealedInstalledHost, rendered.files),
    },
  );
  for (const { path, mode } of directories) {
    await mkdir(paths.at(path), { recursive: true, mode });
  }
  for (const { path, contents, mode } of files) {
    await writeFileAtomic(paths.at(path), contents, mode);
  }
}
