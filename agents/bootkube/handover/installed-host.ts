import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { backupToPath } from '../../../lib/change/backup/push/read-backup-to.ts';
import { deferredFolder, readDeferred } from '../../../lib/cluster/deferred/manifests.ts';
import {
  type Ledger,
  type LedgerEntry,
  ledgerPath,
} from '../../../lib/cluster/installation/ledger.ts';
import {
  ETCD_MANIFEST_FILE,
  RESTORE_FOLDER,
  readSnapshotRecord,
  SNAPSHOT_FILE,
  SNAPSHOT_RECORD_FILE,
} from '../../../lib/cluster/installation/snapshot-record.ts';
import { agentLinks } from '../../../lib/engine/agents/links.ts';
import { agentsOf } from '../../../lib/engine/agents/table.ts';
import { reportToPath } from '../../../lib/engine/report/read-report-to.ts';
import { exists, readTextIfPresent, readTextIfReadable, sha256 } from '../../../lib/host/files.ts';
import { type HostPaths, hostPaths } from '../../../lib/host/paths.ts';
import {
  type HostNeeds,
  installedHost,
  neededBy,
  sealedInstalledHost,
} from '../../../lib/render/hosts.ts';
import type { IgnitionConfig } from '../../../lib/render/ignition/config.ts';
import { configOf, directory, file, link, unit } from '../../../lib/render/ignition/entries.ts';
import { kubeletPaths } from '../../../lib/render/kubernetes/kubelet.ts';
import { keyFingerprintsIn } from '../../../lib/render/private-keys.ts';
import { renderInputPath } from '../../../lib/render/render-input.ts';
import type { Rendered, RenderedFile } from '../../../lib/render/renderer.ts';
import { loadRendered, podOfRole } from '../../../lib/render/store.ts';
import { deferredUnit, pivotUnits, unsealUnit } from '../../../units/installed.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { readIdentity } from '../../steps/kubelet-identity.ts';
import { BUNDLE_PATH, bundlePath } from './log-bundle.ts';
import { asOnDisk, type FileEntry } from './sealed-copies.ts';
import { snapshotPath, snapshotRecordPath } from './snapshot.ts';

/** A file of the installed host and, if only the bootstrap needs it, why it must be deleted. */
interface InstalledFile extends FileEntry {
  readonly leftover?: string | undefined;
}

/** Paths on the installed host. */
const installed: HostPaths = hostPaths();

/**
 * Everything that the bootstrap passes to the installed host, with the ledger of what must be
 * deleted there.
 */
export async function installedHostConfig(
  context: HostContext,
  { withBundle }: { readonly withBundle: boolean },
): Promise<IgnitionConfig> {
  const rendered = await loadRendered(context.paths);
  const identity = await readIdentity(context);
  if (identity === undefined) {
    throw new Failure('fatal', "the node's identity does not exist", {
      fix: 'Run the step kubelet-identity first.',
    });
  }
  const isSealed = context.cluster.sealSecrets !== undefined;
  const needs = isSealed ? sealedInstalledHost : installedHost;
  const deferred = await deferredFiles(context);
  const hasDeferred = deferred.length > 0;
  const files = [
    ...renderedFiles(rendered, needs),
    ...(await agentFiles(context)),
    ...(await restoreFiles(context, rendered)),
    ...(withBundle ? await logBundleFile(context) : []),
    ...deferred,
    {
      path: join(installed.kubeletPki, identity.name),
      mode: 0o600,
      contents: identity.contents,
    },
  ];
  const ledger = ledgerOf(files, rendered);
  const onDisk = await asOnDisk(context, {
    directories: [
      ...neededBy(needs, rendered.directories),
      ...[installed.kubeletPki, restoreFolder].map((path) => ({ path, mode: 0o700 })),
      ...(hasDeferred ? [{ path: deferredFolder(installed), mode: 0o700 }] : []),
    ],
    files: [
      ...files,
      { path: ledgerPath(installed), mode: 0o600, contents: `${JSON.stringify(ledger)}\n` },
    ],
  });
  return configOf({
    directories: onDisk.directories.map(({ path, mode }) => directory(path, mode)),
    files: onDisk.files.map(({ path, mode, contents }) => file(path, mode, contents)),
    links: [
      link(join(installed.kubeletPki, basename(kubeletPaths.clientPair)), identity.name),
      ...agentLinks([
        ...agentsOf('pivot'),
        ...(hasDeferred ? agentsOf('deferred') : []),
        ...(isSealed ? agentsOf('sealed') : []),
      ]).map(({ path, target }) => link(path, target)),
    ],
    units: [
      ...pivotUnits,
      ...(hasDeferred ? [deferredUnit] : []),
      ...(isSealed ? [unsealUnit] : []),
    ].map(({ name, contents, enabled }) => unit(name, { contents, enabled })),
  });
}

const restoreFolder = join(installed.state, RESTORE_FOLDER);

/** Without etcd's manifest in its final place: only the restore unit starts etcd. */
function renderedFiles({ files, staticPods }: Rendered, needs: HostNeeds): InstalledFile[] {
  return [
    ...neededBy(needs, files).map(({ path, mode, contents, leftover }) => ({
      path,
      mode,
      contents,
      leftover,
    })),
    ...staticPods
      .filter(({ role }) => role === 'api-server' || role === 'leader')
      .map(({ file: name, manifest }) => ({
        path: join(installed.staticPods, name),
        mode: 0o600,
        contents: manifest,
      })),
  ];
}

async function restoreFiles(context: HostContext, rendered: Rendered): Promise<InstalledFile[]> {
  const etcd = podOfRole(rendered, 'database');
  const inFolder = (name: string, contents: string | Uint8Array) => ({
    path: join(restoreFolder, name),
    mode: 0o600,
    contents,
    leftover: 'etcd is rebuilt from it once',
  });
  return [
    inFolder(SNAPSHOT_FILE, await readFile(snapshotPath(context))),
    inFolder(SNAPSHOT_RECORD_FILE, await readFile(snapshotRecordPath(context))),
    inFolder(ETCD_MANIFEST_FILE, etcd.manifest),
  ];
}

async function agentFiles(context: HostContext): Promise<InstalledFile[]> {
  const { paths, cluster } = context;
  const settings = await readTextIfReadable(join(paths.config, 'settings.json'));
  const reportTo = await readTextIfPresent(reportToPath(paths));
  const backupTo = await readTextIfPresent(backupToPath(paths));
  const input = await readTextIfPresent(renderInputPath(paths));
  const record = await readSnapshotRecord(snapshotRecordPath(context));
  if (record === undefined) throw new Failure('fatal', 'the snapshot has no record');
  return [
    {
      path: join(installed.config, 'cluster.json'),
      mode: 0o600,
      contents: JSON.stringify(cluster),
    },
    // Readable by all, also in the combined Ignition: identifies the installation on a disk.
    { path: join(installed.config, 'cluster-id'), mode: 0o644, contents: cluster.clusterId },
    ...(settings === undefined
      ? []
      : [{ path: join(installed.config, 'settings.json'), mode: 0o644, contents: settings }]),
    ...(reportTo === undefined
      ? []
      : [{ path: reportToPath(installed), mode: 0o600, contents: reportTo }]),
    ...(backupTo === undefined
      ? []
      : [{ path: backupToPath(installed), mode: 0o600, contents: backupTo }]),
    ...(input === undefined
      ? []
      : [{ path: renderInputPath(installed), mode: 0o600, contents: input }]),
    {
      path: '/etc/default/nodeip-configuration',
      mode: 0o644,
      // One address is enough: it identifies the interface, and the other family's address is taken from there.
      contents: `KUBELET_NODEIP_HINT=${record.nodeIps[0]}\n`,
    },
  ];
}

/** Manifests still waiting for their kind continue to wait on the installed host. */
async function deferredFiles({ paths }: HostContext): Promise<InstalledFile[]> {
  const waiting = await readDeferred(paths);
  return Promise.all(
    waiting.map(async ({ path }) => ({
      path: join(deferredFolder(installed), basename(path)),
      mode: 0o600,
      contents: await readFile(path),
    })),
  );
}

/** Empty if it could not be made: the installation continues without it. */
async function logBundleFile(context: HostContext): Promise<InstalledFile[]> {
  if (!(await exists(bundlePath(context)))) return [];
  return [
    {
      path: BUNDLE_PATH,
      mode: 0o600,
      contents: await readFile(bundlePath(context)),
      leftover: 'logs of the live stage, for a host that does not become ready',
    },
  ];
}

function ledgerOf(files: readonly InstalledFile[], rendered: Rendered): Ledger {
  const entries: LedgerEntry[] = [
    // First, so that an interrupted clean-up never leaves the unit without the files that it restores from.
    ...pivotUnits
      .filter(({ name }) => name !== 'bootkube.service')
      .map(({ name, contents }) => ({
        path: `/etc/systemd/system/${name}`,
        sha256: sha256(contents),
        why: 'it runs once, after the reboot into the disk',
        when: 'steady-state' as const,
        unit: name,
      })),
    ...files.flatMap(({ path, contents, leftover }) =>
      leftover === undefined
        ? []
        : [{ path, sha256: sha256(contents), why: leftover, when: 'steady-state' as const }],
    ),
  ];
  return { entries, goneKeys: goneKeysOf(rendered.files) };
}

/** Without those that a file of another class has as well: they stay. */
function goneKeysOf(files: readonly RenderedFile[]): string[] {
  const keysOf = (isGone: boolean) =>
    files
      .filter(({ keyClass }) => keyClass !== undefined && (keyClass === 'gone') === isGone)
      .flatMap(({ contents }) => keyFingerprintsIn(contents));
  const kept = new Set(keysOf(false));
  return [...new Set(keysOf(true))].filter((key) => !kept.has(key));
}
