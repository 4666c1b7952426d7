import { isDeepStrictEqual } from 'node:util';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { changeUnderWay } from '../../../lib/change/exclusion.ts';
import {
  describeWhat,
  type RotationRequest,
  rotationChange,
  type What,
} from '../../../lib/change/rotation/request.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { mayCertifyAuthorities, requireValid } from '../../../lib/pki/authority.ts';
import { certificatesIn, inspectCertificate } from '../../../lib/pki/certificate.ts';
import { authorityPaths, laptopAdminCa } from '../../../lib/render/kubernetes/authorities.ts';
import { encryptionConfigPath } from '../../../lib/render/kubernetes/encryption.ts';
import { issuedLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { serviceAccount } from '../../../lib/render/kubernetes/service-account.ts';
import { unprovenLeaves } from '../../steps/certificates/replaced.ts';
import { signedRights } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { cutOffWorkers } from './cut-off-workers.ts';
import { stageEncryption } from './stage-keys.ts';
import { losesClients, podName, podsTrustingApi } from './workloads.ts';

type Wanted = Pick<RotationRequest, 'what' | 'restartWorkloads'>;

export interface Accepted {
  /** The same rotation was requested before and has not ended. */
  readonly isUnderWay: boolean;
  /** What the person must know, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Checks a rotation before anything is written.
 *
 * @throws Failure (usage) with everything that prevents it; KubeError if the API server is needed and
 *   does not answer.
 */
export async function planRotation(
  paths: HostPaths,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Accepted> {
  const present = await rotationChange.read(paths);
  const isUnderWay = isDeepStrictEqual(present?.what, wanted.what);
  const notes = notesOn(wanted.what);
  if (isUnderWay) return { isUnderWay, notes };
  const faults = [
    ...(present === undefined ? [] : [otherUnderWay(present)]),
    ...[await changeUnderWay(paths, 'rotation')].filter((found) => found !== undefined),
    ...(await unfinished(paths)),
    ...(await missingFiles(paths, wanted.what)),
    ...(await invalidAuthorities(paths, wanted.what)),
    ...(await unusableConfiguration(paths, wanted.what)),
    ...(await cutOffLaptop(paths, wanted.what)),
    ...(await cutOffWorkers(paths, wanted.what, signal)),
    ...(await lostClients(paths, wanted, signal)),
  ];
  if (faults.length === 0) return { isUnderWay, notes };
  throw new Failure('usage', `${describeWhat(wanted.what)} cannot be rotated`, {
    found: faults.map(describeError).join('; '),
    parts: faults,
  });
}

const fault = (what: string, fix: string) => new Failure('usage', what, { fix });

const otherUnderWay = ({ what }: RotationRequest): Failure =>
  fault(
    `the rotation of ${describeWhat(what)} is under way`,
    'Wait for its end: see "sno-rotate status".',
  );

async function unfinished(paths: HostPaths): Promise<Failure[]> {
  const faults: Failure[] = [];
  if (!(await exists(paths.record))) {
    faults.push(fault('the installation is not complete', 'Wait for its end.'));
  }
  const unproven = await unprovenLeaves(paths);
  if (unproven.length > 0) {
    faults.push(
      fault(
        `the renewal of ${unproven.join(', ')} has not ended`,
        'Run "systemctl start sno-renew" first.',
      ),
    );
  }
  return faults;
}

async function missingFiles(paths: HostPaths, what: What): Promise<Failure[]> {
  const faults: Failure[] = [];
  for (const path of filesOf(what)) {
    if (await exists(paths.at(path))) continue;
    faults.push(fault(`${path} does not exist`, 'Restore it from a backup.'));
  }
  return faults;
}

/** With a clock that wrong, the new ones would have wrong dates, too. */
async function invalidAuthorities(paths: HostPaths, what: What): Promise<Failure[]> {
  const faults: Failure[] = [];
  for (const name of what.kind === 'authorities' ? what.names : []) {
    const pem = await readTextIfPresent(paths.at(authorityPaths(name).certificate));
    try {
      if (pem !== undefined) requireValid(pem, new Date());
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      faults.push(error);
    }
  }
  return faults;
}

/** What the step `stage` would refuse, after the rotation was requested. */
async function unusableConfiguration(paths: HostPaths, what: What): Promise<Failure[]> {
  const path = paths.at(encryptionConfigPath);
  if (what.kind !== 'encryption' || !(await exists(path))) return [];
  try {
    await stageEncryption(() => readTextIfPresent(path));
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error];
  }
}

function filesOf(what: What): string[] {
  if (what.kind === 'encryption') return [encryptionConfigPath];
  if (what.kind === 'service-account') return [serviceAccount.privateKey, serviceAccount.publicKey];
  return what.names.flatMap((name) => {
    const { certificate, key } = authorityPaths(name);
    return [certificate, key];
  });
}

async function lostClients(
  paths: HostPaths,
  { what, restartWorkloads }: Wanted,
  signal: AbortSignal,
): Promise<Failure[]> {
  if (what.kind !== 'authorities' || !what.names.includes('serving') || restartWorkloads) return [];
  const pem = await readTextIfPresent(paths.at(authorityPaths('serving').certificate));
  if (pem === undefined || !losesClients(pem)) return [];
  const { withAdministrator } = signedRights({ paths, cluster: await readCluster(paths) });
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const remaining = { remainingMs: () => REQUEST_DEADLINE_MS };
  const pods = await withAdministrator(remaining, (client) => podsTrustingApi(client, limits));
  return [
    fault(
      `the CA serving cannot sign its successor (path length 0): kubeconfigs of administrators have to be issued again, and these pods trust only the old one until they restart: ${pods.map(podName).join(', ') || 'none'}`,
      'To have them deleted, add --restart-workloads.',
    ),
  ];
}

/**
 * The first kubeconfig knows the authority of the API server by what the server presents behind its
 * certificate, which may not certify any number of successors. A rotation of the administrators' authority ends it anyway.
 */
async function cutOffLaptop(paths: HostPaths, what: What): Promise<Failure[]> {
  if (what.kind !== 'authorities' || !what.names.includes('serving')) return [];
  if (what.names.includes('admin') || !(await exists(paths.at(laptopAdminCa)))) return [];
  const read = (path: string) => readTextIfPresent(paths.at(path));
  const serving = await read(authorityPaths('serving').certificate);
  const [, cross] = certificatesIn((await read(issuedLeaves.apiServerServing.certificate)) ?? '');
  if (serving === undefined || cross === undefined) return [];
  if (nameOf(cross) !== nameOf(serving) || mayCertifyAuthorities(cross)) return [];
  return [
    fault(
      'auth/kubeconfig on the laptop was not exchanged: it could not verify the API server any more',
      'Run "sno wait-for install-complete" there, then "systemctl start sno-renew" here. If that kubeconfig is lost, rotate the CA admin, too: nothing of the laptop is trusted then.',
    ),
  ];
}

const nameOf = (pem: string): string => inspectCertificate(pem).subject.commonName;

function notesOn(what: What): string[] {
  if (what.kind === 'service-account') {
    return [
      'Tokens that do not expire (Secrets of type kubernetes.io/service-account-token) and tokens that were requested for longer than the overlap end with the old key.',
    ];
  }
  if (what.kind !== 'authorities' || !what.names.includes('admin')) return [];
  return [
    'Certificates of administrators that were issued before are refused at its end, also that in auth/kubeconfig. Issue new ones with "sno-certificates kubeconfig --csr FILE".',
  ];
}
