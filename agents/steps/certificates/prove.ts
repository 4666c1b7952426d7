import { readFile } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { succeeds, waitUntil } from '../../../lib/base/wait/wait-until.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { inspectCertificate } from '../../../lib/pki/certificate.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { etcdMember } from '../../../lib/render/kubernetes/etcd.ts';
import { issuedLeaves, type RotatableLeaf } from '../../../lib/render/kubernetes/leaves.ts';
import { localApi } from '../../../lib/render/kubernetes/paths.ts';
import type { RenewContext } from './context.ts';
import {
  apiUser,
  type ClientIdentity,
  etcdAnswer,
  kubeletAnswer,
  presentedSerial,
} from './dial.ts';

type Presenter = 'etcd' | 'etcd-peer' | 'api' | 'kubelet';

/** Where the proof of a leaf is. `by`: the leaf with which a server's client introduces itself. */
type Proof =
  | { readonly kind: 'presented'; readonly by: Presenter }
  | { readonly kind: 'accepted'; readonly by: 'etcd' | 'api' | 'api-as-proxy' | 'kubelet' };

const acceptedByApi: Proof = { kind: 'accepted', by: 'api' };
const acceptedByEtcd: Proof = { kind: 'accepted', by: 'etcd' };

/** Servers present the new certificate; for a client's, its server accepts a request made with it. */
const PROOFS: Readonly<Record<RotatableLeaf['name'], Proof>> = {
  'etcd-server': { kind: 'presented', by: 'etcd' },
  'etcd-peer': { kind: 'presented', by: 'etcd-peer' },
  'kube-apiserver-etcd-client': acceptedByEtcd,
  'sno-agents-etcd-client': acceptedByEtcd,
  'kube-apiserver-serving': { kind: 'presented', by: 'api' },
  'kube-apiserver-kubelet-client': { kind: 'accepted', by: 'kubelet' },
  'front-proxy-client': { kind: 'accepted', by: 'api-as-proxy' },
  'kube-controller-manager': acceptedByApi,
  'kube-scheduler': acceptedByApi,
  'csr-approver': acceptedByApi,
  deferred: acceptedByApi,
  'bootstrap-admin': acceptedByApi,
  'kubelet-client': acceptedByApi,
  'kubelet-serving': { kind: 'presented', by: 'kubelet' },
};

const RETRY_MS = 1000;
const ATTEMPT_MS = 10_000;
const KUBELET_URL = 'https://127.0.0.1:10250';

/**
 * Whether it is a client's whose server answers it even if it does not accept it. etcd refuses the
 * connection.
 */
export const isRefusedByAnswer = ({ name }: RotatableLeaf): boolean =>
  PROOFS[name].kind === 'accepted' && PROOFS[name].by !== 'etcd';

/**
 * Repeats the proof of a certificate until it succeeds. Returns what was seen.
 *
 * @param identity by default what is on the disk.
 * @throws Failure (deadline) with the last error as its cause; the reason of the signal.
 */
export async function prove(
  context: RenewContext,
  leaf: RotatableLeaf,
  progress: Progress,
  identity?: ClientIdentity,
): Promise<string> {
  return untilProven(
    context,
    (limits) => attempt(context, leaf, identity, limits),
    (cause) => notProven(context, leaf, cause),
    progress,
  );
}

/**
 * The opposite for a client's certificate: waits until its server refuses the client.
 *
 * @throws Failure (deadline) if it is still accepted; the reason of the signal.
 */
export async function proveRefused(
  context: RenewContext,
  leaf: RotatableLeaf,
  identity: ClientIdentity,
  progress: Progress,
): Promise<void> {
  const { by } = PROOFS[leaf.name];
  const isRefused = async (limits: Limits) => {
    const error = await attempt(context, leaf, identity, limits).catch((reason: unknown) => reason);
    if (error instanceof Failure && error.details.subject === '401') return;
    throw new Failure('retry', `${SERVERS[by]} does not refuse the old certificate`, {
      cause: error instanceof Error ? error : undefined,
    });
  };
  const failure = (cause: unknown) =>
    new Failure('deadline', `the old certificate of ${leaf.name} is not refused`, { cause });
  await untilProven(context, isRefused, failure, progress);
}

/**
 * Repeats an attempt until it succeeds, for as long as servers take to read changed files. Reports
 * nothing: several may run at once.
 *
 * @param failure makes the error to throw at the end, of the last one.
 */
export async function untilProven<T>(
  { settings }: RenewContext,
  attempt: (limits: Limits) => Promise<T>,
  failure: (cause: unknown) => Failure,
  progress: Progress,
): Promise<T> {
  return waitUntil(
    succeeds(({ signal }) => attempt({ signal, deadlineMs: ATTEMPT_MS })),
    {
      signal: progress.signal,
      deadlineMs: settings.renewProofMs,
      everyMs: RETRY_MS,
      late: ({ cause }) => failure(cause),
    },
  );
}

/** As messages name them. */
const SERVERS = {
  api: 'the API server',
  'api-as-proxy': 'the API server',
  etcd: 'etcd',
  'etcd-peer': 'etcd, to its peers,',
  kubelet: 'the kubelet',
} as const;

function notProven({ settings }: RenewContext, { name }: RotatableLeaf, cause: unknown): Failure {
  const { kind, by } = PROOFS[name];
  const seconds = Math.round(settings.renewProofMs / 1000);
  const verb = kind === 'presented' ? 'present' : 'accept';
  return new Failure('deadline', `${SERVERS[by]} does not ${verb} it after ${seconds} s`, {
    cause,
  });
}

async function attempt(
  context: RenewContext,
  leaf: RotatableLeaf,
  identity: ClientIdentity | undefined,
  limits: Limits,
): Promise<string> {
  const proof = PROOFS[leaf.name];
  const own = identity ?? (await identityOf(context, leaf));
  if (proof.kind === 'presented') return presented(context, proof.by, own.certificate, limits);
  if (proof.by === 'etcd') {
    const server = { url: etcdUrl(context), ca: await authorityOf(context, 'etcd') };
    return etcdAnswer(server, own, limits);
  }
  if (proof.by === 'kubelet') return kubeletAnswer(kubeletUrl(context), own, limits);
  const { commonName } = inspectCertificate(own.certificate).subject;
  const asked = proof.by === 'api' ? undefined : 'sno-agents:renewal-proof';
  const server = { url: apiUrl(context), ca: await authorityOf(context, 'serving') };
  const user = await apiUser(server, own, asked, limits);
  if (user === (asked ?? commonName)) return `the API server accepts it as ${user}`;
  throw new Failure('retry', 'the API server knows the client by another name', {
    expected: asked ?? commonName,
    found: user,
  });
}

async function presented(
  context: RenewContext,
  by: Presenter,
  certificate: string,
  limits: Limits,
): Promise<string> {
  const { endpoints } = context.paths;
  const servers = {
    api: { url: apiUrl(context), authority: 'serving' },
    etcd: { url: etcdUrl(context), authority: 'etcd' },
    'etcd-peer': { url: endpoints.etcdPeer ?? etcdMember.peerUrl, authority: 'etcd' },
    kubelet: { url: kubeletUrl(context), authority: 'kubelet-serving' },
  } as const;
  const { url, authority } = servers[by];
  const expected = inspectCertificate(certificate).serialNumber;
  // etcd logs a warning for each client without a certificate.
  const isEtcd = by === 'etcd' || by === 'etcd-peer';
  const client = isEtcd ? await identityOf(context, issuedLeaves.etcdPeer) : undefined;
  const name = by === 'kubelet' ? context.hostname() : undefined;
  const server = { url, ca: await authorityOf(context, authority), name };
  const found = await presentedSerial(server, client, limits);
  if (found === expected) return `${SERVERS[by]} presents serial number ${found}`;
  throw new Failure('retry', `${SERVERS[by]} presents another certificate`, {
    expected: `serial number ${expected}`,
    found,
  });
}

const apiUrl = ({ paths }: RenewContext) => paths.endpoints.api ?? localApi;
const etcdUrl = ({ paths }: RenewContext) => paths.endpoints.etcd ?? etcdMember.clientUrl;
const kubeletUrl = ({ paths }: RenewContext) => paths.endpoints.kubelet ?? KUBELET_URL;

const authorityOf = ({ paths }: RenewContext, name: 'serving' | 'etcd' | 'kubelet-serving') =>
  readFile(paths.at(authorityPaths(name).certificate), 'utf8');

async function identityOf(
  { paths }: RenewContext,
  { certificate, key }: Pick<RotatableLeaf, 'certificate' | 'key'>,
): Promise<ClientIdentity> {
  return {
    certificate: await readFile(paths.at(certificate), 'utf8'),
    key: await readFile(paths.at(key), 'utf8'),
  };
}
