import { readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { type BackupManifest, restoredMode } from '../../../lib/change/backup/manifest.ts';
import { readManifest } from '../../../lib/change/backup/store.ts';
import { recordNothingReplaced } from '../../../lib/change/restore/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists, syncDirectory } from '../../../lib/host/files.ts';
import { accessTo } from '../../../lib/render/access.ts';
import {
  makeFolder,
  readSecret,
  writeKeptFiles,
  writeSecret,
} from '../../../lib/secrets/seal/files.ts';
import type { RestoreContext } from './context.ts';
import { withProvidersOf } from './encryption.ts';
import { backupPath, rebuiltDatabase, replacedDatabase, savedEncryption } from './places.ts';

/**
 * Puts the database aside under a name with the time of the request, and the rebuilt one in its
 * place. Keys of the host stay as they are: leaves are signed by its present authorities. Missing
 * files are put back, and Secrets of the backup can be read with its key.
 */
export const replace: StepBody<RestoreContext> = {
  name: 'replace',
  leaves: 'the restored database in place, the one from before beside it',
  touches: ['disk', 'etcd'],
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
    await makeFolder(paths, dirname(host), 0o700);
    const contents = await savedKey(context, path, host);
    await writeKeptFiles(paths, [{ path: host, contents, mode: restoredMode(mode) }]);
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
  const saved = await savedKey(context, copy.path, encryption);
  const both = withProvidersOf(present, saved);
  if (both === undefined) return;
  if (!(await exists(savedEncryption(context)))) {
    await writeSecret(paths, savedEncryption(context), present);
  }
  await writeKeptFiles(paths, [{ path: encryption, contents: both, mode: 0o600 }]);
}

/** A key of the backup, which is sealed if that of a sealed host. `host`: its path there. */
export async function savedKey(
  context: RestoreContext,
  path: string,
  host: string,
): Promise<string> {
  const text = await readSecret(context.paths, join(backupPath(context), path), host);
  if (text !== undefined) return text;
  throw new Failure('fatal', `the backup has no ${path}`, { code: 'backup-unusable' });
}
