import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { plural } from '../../report/reading/words.ts';
import { inspectFolder } from '../create/read-folder.ts';
import { manifestNotices } from '../create/single-node-ignition-config.ts';
import { aioNotices, configNotices } from '../create/site-notices.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import type { Surroundings } from '../surroundings.ts';

export interface VerifyInstallConfigOptions {
  readonly dir: string;
  readonly aio?: boolean;
}

/**
 * `sno verify install-config`: judges install-config.yaml and the manifests beside it as `sno create` does, and writes
 * nothing. @throws Failure (usage) with every fault
 */
export async function verifyInstallConfig(
  { dir, aio = false }: VerifyInstallConfigOptions,
  { environment, print, notice, signal }: Surroundings,
): Promise<void> {
  const host = { writesDisk: !aio };
  const { contents, faults } = await inspectFolder(dir, environment[DISK_VARIABLE], signal, host);
  if (contents === undefined) {
    throw new Failure(
      'usage',
      [`${plural(faults.length, 'error')} in ${dir}`, ...faults].join('\n'),
    );
  }
  const { settings, user, notRead } = contents;
  const { disk } = settings.cluster.installation;
  const where = aio ? 'for an all-in-one host' : `for a host that is installed to ${disk}`;
  print(`${join(dir, INSTALL_CONFIG)} is valid: ${clusterDomain(settings.cluster)}, ${where}`);
  const notices = aio ? aioNotices(settings) : configNotices(settings);
  for (const text of [...notices, ...manifestNotices(user), ...notRead]) notice(text);
}
