import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/errors/failure.ts';
import { connectEtcd } from '../../../lib/etcd/client.ts';
import { inspectCertificate } from '../../../lib/pki/certificate.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { etcdMember } from '../../../lib/render/kubernetes/etcd.ts';
import { issuedLeaves, type RenewableLeaf } from '../../../lib/render/kubernetes/leaves.ts';
import { localApi } from '../../../lib/render/kubernetes/paths.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import type { Limits } from '../../../lib/wait/limits.ts';
import type { RenewContext } from './context.ts';
import { apiUser, type Identity, kubeletAnswer, presentedSerial } from './dial.ts';

/** Where the proof of a leaf is. `by`: the leaf with which a server's client introduces itself. */
type Proof =
  | { readonly kind: 'presented'; readonly by: 'etcd' | 'etcd-peer' | 'api' }
  | { readonly kind: 'accepted'; readonly by: 'etcd' | 'api' | 'api-as-proxy' | 'kubelet' };

const acceptedByApi: Proof = { kind: 'accepted', by: 'api' };
const acceptedByEtcd: Proof = { kind: 'accepted', by: 'etcd' };

/** Servers present the new certificate; for a client's, its server accepts a request made with it. */
const PROOFS: Readonly<Record<RenewableLeaf['name'], Proof>> = {
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
};

const RETRY_MS = 1000;
const ATTEMPT_MS = 10_000;
const KUBELET_URL = 'https://127.0.0.1:10250';

/**
 * Repeats the proof of the certificate that is on the disk until it succeeds. Returns what was
 * seen.
 *
 * @throws Failure (deadline) with the last error as its cause; the reason of the signal.
 */
export async function prove(
  context: RenewContext,
  leaf: RenewableLeaf,
  progress: Progress,
): Promise<string> {
  const endsAt = performance.now() + context.settings.renewProofMs;
  for (;;) {
    try {
      return await attempt(context, leaf, { signal: progress.signal, deadlineMs: ATTEMPT_MS });
    } catch (cause) {
      progress.signal.throwIfAborted();
      if (endsAt - performance.now() < RETRY_MS) throw notProven(context, leaf, cause);
    }
    await sleep(RETRY_MS, undefined, { signal: progress.signal });
  }
}

/** As messages name them. */
const SERVERS = {
  api: 'the API server',
  'api-as-proxy': 'the API server',
  etcd: 'etcd',
  'etcd-peer': 'etcd, to its peers,',
  kubelet: 'the kubelet',
} as const;

function notProven({ settings }: RenewContext, { name }: RenewableLeaf, cause: unknown): Failure {
  const { kind, by } = PROOFS[name];
  const seconds = Math.round(settings.renewProofMs / 1000);
  const verb = kind === 'presented' ? 'present' : 'accept';
  return new Failure('deadline', `${SERVERS[by]} does not ${verb} it after ${seconds} s`, {
    cause,
  });
}

async function attempt(
  context: RenewContext,
  leaf: RenewableLeaf,
  limits: Limits,
): Promise<string> {
  const proof = PROOFS[leaf.name];
  const own = await identityOf(context, leaf);
  if (proof.kind === 'presented') return presented(context, proof.by, own.certificate, limits);
  if (proof.by === 'etcd') return acceptedEtcd(context, own, limits);
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
  by: 'etcd' | 'etcd-peer' | 'api',
  certificate: string,
  limits: Limits,
): Promise<string> {
  const { endpoints } = context.paths;
  const servers = {
    api: { url: apiUrl(context), authority: 'serving' },
    etcd: { url: endpoints.etcd ?? etcdMember.clientUrl, authority: 'etcd' },
    'etcd-peer': { url: endpoints.etcdPeer ?? etcdMember.peerUrl, authority: 'etcd' },
  } as const;
  const { url, authority } = servers[by];
  const expected = inspectCertificate(certificate).serialNumber;
  // etcd logs a warning for each client without a certificate.
  const client = by === 'api' ? undefined : await identityOf(context, issuedLeaves.etcdPeer);
  const server = { url, ca: await authorityOf(context, authority) };
  const found = await presentedSerial(server, client, limits);
  if (found === expected) return `${SERVERS[by]} presents serial number ${found}`;
  throw new Failure('retry', `${SERVERS[by]} presents another certificate`, {
    expected: `serial number ${expected}`,
    found,
  });
}

async function acceptedEtcd(context: RenewContext, own: Identity, limits: Limits): Promise<string> {
  using client = connectEtcd(context.paths.endpoints.etcd ?? etcdMember.clientUrl, {
    ca: await authorityOf(context, 'etcd'),
    cert: own.certificate,
    key: own.key,
  });
  await client.status(limits);
  return 'etcd accepts it';
}

const apiUrl = ({ paths }: RenewContext) => paths.endpoints.api ?? localApi;
const kubeletUrl = ({ paths }: RenewContext) => paths.endpoints.kubelet ?? KUBELET_URL;

const authorityOf = ({ paths }: RenewContext, name: 'serving' | 'etcd') =>
  readFile(paths.at(authorityPaths(name).certificate), 'utf8');

async function identityOf(
  { paths }: RenewContext,
  { certificate, key }: Pick<RenewableLeaf, 'certificate' | 'key'>,
): Promise<Identity> {
  return {
    certificate: await readFile(paths.at(certificate), 'utf8'),
    key: await readFile(paths.at(key), 'utf8'),
  };
}
