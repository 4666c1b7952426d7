import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BackupManifest } from '../../../../lib/backup/manifest.ts';
import { readManifest } from '../../../../lib/backup/store.ts';
import { exists, syncDirectory, writeFileAtomic } from '../../../../lib/host/files.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { done } from '../../../../lib/steps/step.ts';
import type { StepBody } from '../../../../lib/steps/within.ts';
import type { RestoreContext } from './context.ts';
import { withProvidersOf } from './encryption.ts';
import { backupPath, rebuiltDatabase, replacedDatabase, savedEncryption } from './places.ts';
import { recordNothingReplaced } from './request.ts';

/**
 * Puts the database aside under a name with the time of the request, and the rebuilt one in its
 * place. Keys of the host stay as they are: leaves are signed by its present authorities. Missing
 * files are put back, and Secrets of the backup can be read with its key.
 */
export const replace: StepBody<RestoreContext> = {
  name: 'replace',
  leaves: 'the restored database in place, the one from before beside it',
  input: ({ request }) => request,
  holds: async (context) =>
    !(await exists(rebuiltDatabase(context))) && (await exists(context.paths.etcdData)),
  async run(context) {
    const { etcdData } = context.paths;
    const { files } = await readManifest(backupPath(context));
    await putBackMissing(context, files);
    await addEncryptionKeys(context, files);
    const [rebuilt, replaced] = [rebuiltDatabase(context), replacedDatabase(context)];
    // An interrupted attempt may have renamed one of them.
    if (await exists(rebuilt)) {
      if (await exists(etcdData)) await rename(etcdData, replaced);
      else if (!(await exists(replaced))) await recordNothingReplaced(context.paths);
      await rename(rebuilt, etcdData);
      await syncDirectory(dirname(etcdData));
    }
    const wasThere = await exists(replaced);
    return done(wasThere ? `the database from before is ${replaced}` : 'there was no database');
  },
};

async function putBackMissing(
  context: RestoreContext,
  files: BackupManifest['files'],
): Promise<void> {
  const { paths } = context;
  for (const { path, host, mode } of files) {
    if (host === undefined || (await exists(paths.at(host)))) continue;
    await mkdir(dirname(paths.at(host)), { recursive: true, mode: 0o700 });
    await writeFileAtomic(paths.at(host), await readFile(join(backupPath(context), path)), mode);
  }
}

async function addEncryptionKeys(
  context: RestoreContext,
  files: BackupManifest['files'],
): Promise<void> {
  const { paths, cluster } = context;
  const { encryption } = accessTo(cluster.controlPlane).backup;
  const copy = files.find(({ host }) => host === encryption);
  if (copy === undefined) return;
  const present = await readFile(paths.at(encryption), 'utf8');
  const saved = await readFile(join(backupPath(context), copy.path), 'utf8');
  const both = withProvidersOf(present, saved);
  if (both === undefined) return;
  if (!(await exists(savedEncryption(context)))) {
    await writeFileAtomic(savedEncryption(context), present, 0o600);
  }
  await writeFileAtomic(paths.at(encryption), both, 0o600);
}
