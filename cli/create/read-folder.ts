import { Failure } from '../../lib/base/errors/failure.ts';
import { faultText, firstOf } from '../../lib/config/file/fault.ts';
import { plural } from '../../report/reading/words.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import { readInstallSettings } from '../install-config/settings.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import { askNmstatectl } from '../nmstate/ask-nmstatectl.ts';
import { readBackupTo } from '../site/read-backup-to.ts';
import { readReportTo } from '../site/read-report-to.ts';
import { type DeferredUserManifests, deferManifests } from './defer-manifests.ts';
import { notReadIn } from './not-read.ts';
import { readInstallConfig } from './read-install-config.ts';
import { readUserManifests } from './user-manifests.ts';

/** Everything in the folder that an Ignition config is made from. */
export interface FolderContents {
  readonly settings: InstallSettings;
  readonly user: DeferredUserManifests;
  /** report-to.json, if it is there. */
  readonly reportTo: string | undefined;
  /** backup-to.json, if it is there. */
  readonly backupTo: string | undefined;
  /** A sentence for each file beside install-config.yaml that is not read. */
  readonly notRead: readonly string[];
}

/** @throws Failure (usage) with every fault in the folder */
export async function readFolder(
  dir: string,
  diskVariable: string | undefined,
  signal: AbortSignal,
): Promise<FolderContents> {
  const read = await inspectFolder(dir, diskVariable, signal, { writesDisk: true });
  if (read.contents !== undefined) return read.contents;
  throw faultsIn(dir, read.faults);
}

/** The contents of the folder, or each of its faults as one line. */
export async function inspectFolder(
  dir: string,
  diskVariable: string | undefined,
  signal: AbortSignal,
  host: Parameters<typeof readInstallSettings>[2],
): Promise<
  | { readonly contents: FolderContents; readonly faults: readonly [] }
  | { readonly contents: undefined; readonly faults: readonly string[] }
> {
  const text = await readInstallConfig(dir);
  const read = readInstallSettings(text, diskVariable, host);
  const user = deferManifests(await readUserManifests(dir, signal));
  const faults = [
    ...(read.ok ? [] : read.faults.map((fault) => faultText(fault, INSTALL_CONFIG))),
    ...user.faults,
  ];
  if (read.ok && faults.length === 0) {
    const notRead = await notReadIn(dir);
    const { networkConfig } = read.settings.cluster;
    await askNmstatectl(networkConfig, 'bootstrapInPlace.networkConfig', signal);
    const reportTo = (await readReportTo(dir))?.text;
    const backupTo = await readBackupTo(dir);
    const contents = { settings: read.settings, user, reportTo, backupTo, notRead };
    return { contents, faults: [] };
  }
  return { contents: undefined, faults };
}

/** All of them in one error. */
export function faultsIn(dir: string, faults: readonly string[]): Failure {
  const head = `${plural(faults.length, 'error')} in ${dir}; nothing was written`;
  return new Failure('usage', [head, ...firstOf(faults)].join('\n'));
}
