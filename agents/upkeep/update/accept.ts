import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { productVersion } from '../../../lib/base/version.ts';
import { requireIdle } from '../../../lib/change/exclusion.ts';
import {
  type InstalledVersions,
  isInstalledUpdate,
  requireSuitable,
} from '../../../lib/change/update/judge.ts';
import { parseUpdate, UPDATE_FILES } from '../../../lib/change/update/manifest.ts';
import type { UpdateRequest } from '../../../lib/change/update/request.ts';
import { UPDATE_SIGNATURE } from '../../../lib/change/update/signature.ts';
import { readTaken } from '../../../lib/change/update/taken.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { hostArchitecture } from '../../../lib/host/architecture.ts';
import { exists, readTextIfPresent, sha256OfFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { payloadFile, readPayload } from '../../../lib/payload/payload.ts';
import { allowedSigners, verifySignature } from '../../../lib/pki/signature/ssh-signature.ts';
import { updateSource } from './source.ts';

const FETCH_MS = 60_000;

/**
 * Reads the manifest of an update, verifies who signed it and whether it is one for this host. Changes nothing.
 * Undefined if the host runs it already.
 *
 * @throws Failure (usage) with the reason why it is refused
 */
export async function acceptUpdate(
  paths: HostPaths,
  from: string,
  signal: AbortSignal,
): Promise<UpdateRequest | undefined> {
  const cluster = await readCluster(paths);
  if (cluster.controlPlane !== 'kubernetes' || !(await exists(paths.record))) {
    throw new Failure('usage', 'this host cannot be updated', {
      code: 'update-refused',
      expected:
        'a host with a control plane of the Kubernetes payload, whose installation is complete',
    });
  }
  await requireIdle(paths, 'update');
  const limits = { signal, deadlineMs: FETCH_MS };
  const signed = await updateSource(from, cluster).signed(
    join(paths.run, 'update-manifest'),
    limits,
  );
  const signers =
    (await readTextIfPresent(join(paths.config, 'allowed_signers'))) ??
    allowedSigners(cluster.sshKeys, UPDATE_SIGNATURE);
  const work = join(paths.run, 'update-signature');
  const signedBy = await verifySignature(signed, signers, UPDATE_SIGNATURE, work, signal);
  const manifest = parseUpdate(signed.text, `${from}/${UPDATE_FILES.manifest}`);
  const installed = await installedVersions(paths, signal);
  requireSuitable(manifest, installed);
  if (isInstalledUpdate(manifest, installed)) return undefined;
  const at = new Date().toISOString();
  return { schemaVersion: 1, id: randomUUID(), at, from, manifest, signedBy };
}

async function installedVersions(
  paths: HostPaths,
  signal: AbortSignal,
): Promise<InstalledVersions> {
  const payload = await readPayload(paths.payload);
  return {
    architecture: hostArchitecture(),
    serial: await readTaken(paths),
    executable: { version: productVersion, sha256: await sha256OfFile(paths.executable, signal) },
    payload: {
      versions: payload.versions,
      sha256: await sha256OfFile(join(paths.payload, payloadFile), signal),
    },
  };
}
