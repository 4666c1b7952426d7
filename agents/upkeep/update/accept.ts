import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { productVersion } from '../../../lib/base/version.ts';
import { listBackups } from '../../../lib/change/backup/store.ts';
import { requireIdle } from '../../../lib/change/exclusion.ts';
import {
  type InstalledVersions,
  isInstalledUpdate,
  refuseFor,
  updateFaults,
} from '../../../lib/change/update/judge.ts';
import {
  parseUpdate,
  UPDATE_FILES,
  type UpdateManifest,
} from '../../../lib/change/update/manifest.ts';
import type { UpdateRequest } from '../../../lib/change/update/request.ts';
import { UPDATE_SIGNATURE } from '../../../lib/change/update/signature.ts';
import { minorsChanged, type Obstacle } from '../../../lib/change/update/successor.ts';
import { readTaken } from '../../../lib/change/update/taken.ts';
import { isWorker } from '../../../lib/cluster/workers/paths.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { hostArchitecture } from '../../../lib/host/architecture.ts';
import { exists, readTextIfPresent, sha256OfFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { withWorkFolder } from '../../../lib/host/work-folder.ts';
import { payloadFile, readPayload } from '../../../lib/payload/payload.ts';
import { allowedSigners, verifySignature } from '../../../lib/pki/signature/ssh-signature.ts';
import { readRenderInput } from '../../../lib/render/render-input.ts';
import { plainHost, signedRights } from '../../steps/host-context.ts';
import { platformOf } from '../../steps/preflight/platform.ts';
import {
  clusterObstacles,
  platformObstacles,
  roomObstacles,
  type UpdateConsent,
} from './obstacles.ts';
import { updateSource } from './source.ts';
import { apiObstacles } from './worker/obstacles.ts';

const FETCH_MS = 60_000;

/** What a person asks for with `sno-update run`. */
export interface UpdateOrder {
  /** A folder of this host or a URL. */
  readonly from: string;
  readonly accepted: UpdateConsent;
  /** Of the update that has to be there; undefined: any. */
  readonly serial?: number;
}

/**
 * Reads the manifest of an update, verifies who signed it and whether it is one for this host. Changes nothing.
 * Undefined if the host runs it already.
 *
 * @throws Failure (usage) with every reason why it is refused
 */
export async function acceptUpdate(
  paths: HostPaths,
  { from, accepted, serial }: UpdateOrder,
  signal: AbortSignal,
): Promise<UpdateRequest | undefined> {
  const cluster = await readCluster(paths);
  if (cluster.controlPlane !== 'kubernetes' || !(await exists(paths.record))) {
    throw new Failure('usage', 'this host cannot be updated', {
      code: 'update-refused',
      expected:
        'a host with the Kubernetes payload, with a control plane or a worker, whose installation is complete',
    });
  }
  await requireIdle(paths, 'update');
  const limits = { signal, deadlineMs: FETCH_MS };
  const signers =
    (await readTextIfPresent(join(paths.config, 'allowed_signers'))) ??
    allowedSigners(cluster.sshKeys, UPDATE_SIGNATURE);
  // One for each call: a person and a hub may ask at the same moment.
  const folder = join(paths.run, `update-${randomUUID()}`);
  const { signed, signedBy } = await withWorkFolder(folder, async (work) => {
    const signed = await updateSource(from, cluster).signed(join(work, 'manifest'), limits);
    const place = join(work, 'signature');
    const signedBy = await verifySignature(signed, signers, UPDATE_SIGNATURE, place, signal);
    return { signed, signedBy };
  });
  const manifest = parseUpdate(signed.text, `${from}/${UPDATE_FILES.manifest}`);
  requireNamed(manifest, from, serial);
  const installed = await installedVersions(paths, signal);
  const obstacles = updateFaults(manifest, installed);
  if (obstacles.length === 0 && isInstalledUpdate(manifest, installed)) return undefined;
  refuseFor([...obstacles, ...(await hostObstacles(paths, manifest, installed, accepted, signal))]);
  const at = new Date().toISOString();
  const before = installed.payload.versions;
  const backups = (await listBackups(paths)).map(({ name }) => name);
  return { schemaVersion: 1, id: randomUUID(), at, from, before, backups, manifest, signedBy };
}

/** @throws Failure (usage) for another update than the one that was asked for */
function requireNamed({ serial }: UpdateManifest, from: string, named: number | undefined): void {
  if (named === undefined || serial === named) return;
  throw new Failure('usage', `${from} has another update`, {
    code: 'update-refused',
    expected: `the serial ${named}`,
    found: serial === undefined ? 'no serial' : `the serial ${serial}`,
    fix: 'Serve the update that the Site names, or name this one with a higher serial of the Site.',
  });
}

/** Before anything is changed, since each of them would fail the update later. */
async function hostObstacles(
  paths: HostPaths,
  { executable, payload }: UpdateManifest,
  installed: InstalledVersions,
  accepted: UpdateConsent,
  signal: AbortSignal,
): Promise<Obstacle[]> {
  const needed = [
    ...(executable.sha256 === installed.executable.sha256 ? [] : [executable.size]),
    ...(payload.sha256 === installed.payload.sha256 ? [] : [payload.size]),
  ];
  const isNextMinor = minorsChanged(payload.versions, installed.payload.versions);
  return [
    ...(await roomObstacles(
      paths.state,
      needed.reduce((sum, size) => sum + size, 0),
    )),
    ...platformObstacles(payload.versions, await platformOf(paths, signal)),
    ...(isNextMinor.includes('kubernetes')
      ? await minorObstacles(paths, installed, payload.versions, accepted, signal)
      : []),
  ];
}

/** Obstacles in the cluster to the next minor version of Kubernetes. */
async function minorObstacles(
  paths: HostPaths,
  { isWorker: hasNoControlPlane }: InstalledVersions,
  versions: UpdateManifest['payload']['versions'],
  accepted: UpdateConsent,
  signal: AbortSignal,
): Promise<Obstacle[]> {
  const host = await plainHost(paths);
  if (hasNoControlPlane === true) return apiObstacles(host, versions, signal);
  return clusterObstacles({ ...host, ...signedRights(host) }, versions, accepted, signal);
}

async function installedVersions(
  paths: HostPaths,
  signal: AbortSignal,
): Promise<InstalledVersions> {
  const payload = await readPayload(paths.payload);
  return {
    architecture: hostArchitecture(),
    isWorker: await isWorker(paths),
    serial: await readTaken(paths),
    emulates: (await readRenderInput(paths))?.host.emulates,
    executable: { version: productVersion, sha256: await sha256OfFile(paths.executable, signal) },
    payload: {
      versions: payload.versions,
      sha256: await sha256OfFile(join(paths.payload, payloadFile), signal),
    },
  };
}
