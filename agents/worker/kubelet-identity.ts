import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import { type KubeClient, kubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { type CertificateSigningRequest, resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { workerPaths } from '../../lib/cluster/workers/paths.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done, notYet } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { createSigningKey, publicKeyFingerprint } from '../../lib/pki/keys.ts';
import { certificateRequest } from '../../lib/pki/request.ts';
import type { PlainHost } from '../steps/host-context.ts';
import { CURRENT, currentIdentity, placeIdentity } from '../steps/kubelet-client-file.ts';
import { identityFile, isOfNode, nodeUser } from '../steps/kubelet-identity.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';

const { certificateSigningRequests } = resources;
/** A request is repeated after this time: an hour after its creation nothing approves it any more. */
const REQUEST_MS = 30 * 60_000;

/**
 * Makes the key of this host's kubelet, requests the certificate for it with the bootstrap token, and
 * waits until the control-plane host has approved it. The fingerprint of the key is logged and shown:
 * an entry of the list there can demand it. The key never leaves the host.
 */
export const workerKubeletIdentity: StepBody<PlainHost> = {
  name: 'kubelet-identity',
  leaves: `the node's client certificate and key, in a dated file behind ${CURRENT}`,
  touches: ['disk', 'api', 'network', 'clock'],
  retries: true,
  input: ({ cluster, hostname }) => [cluster.clusterId, hostname()],
  async holds(context) {
    const pem = await currentIdentity(context.paths);
    return pem !== undefined && isOfNode(pem, context);
  },
  async run(context, progress) {
    const { paths } = context;
    const key = await ownKey(paths);
    const fingerprint = publicKeyFingerprint(key);
    progress.say(
      `The key of worker ${context.hostname()} has the fingerprint sha256:${fingerprint}`,
      { fingerprint: `sha256:${fingerprint}` },
    );
    using client = await kubeClient(paths.at(workerPaths.bootstrapKubeconfig));
    await progress.wait('the API server to be ready', (wait) => waitForApi(client, wait));
    const certificate = await requestCertificate(client, context, key, fingerprint, progress);
    if (certificate === undefined) return notYet('the request for a certificate is not approved');
    requireFit(certificate, key, context);
    const identity = identityFile(certificate, key);
    await placeIdentity(paths, identity);
    await removeFile(keyPath(paths));
    return done(identity.name);
  },
};

const keyPath = ({ state }: HostPaths) => join(state, 'worker', 'kubelet.key');

/** One key for all attempts: people compare its fingerprint. */
async function ownKey(paths: HostPaths): Promise<string> {
  const known = await readTextIfPresent(keyPath(paths));
  if (known !== undefined) return known;
  const { privateKey } = await createSigningKey();
  await writeFileAtomic(keyPath(paths), privateKey, 0o600);
  return privateKey;
}

/** The certificate as PEM; undefined if the request must be repeated. */
async function requestCertificate(
  client: KubeClient,
  context: PlainHost,
  privateKey: string,
  fingerprint: string,
  progress: Progress,
): Promise<string | undefined> {
  const now = Date.now();
  const period = Math.floor(now / REQUEST_MS);
  // The same after a restart within the period, so that it finds its own request again.
  const name = `sno-worker-${context.hostname()}-${fingerprint.slice(0, 12)}-${period}`;
  await submit(client, name, context, privateKey, progress.signal);
  const what = `worker ${context.hostname()} to be approved on the control-plane host, key sha256:${fingerprint}`;
  const decided = await progress.wait(what, () =>
    watchUntil(
      client,
      certificateSigningRequests,
      { fieldSelector: `metadata.name=${name}` },
      (requests) => decision(requests.get(name)),
      {
        signal: progress.signal,
        deadlineMs: Math.min(progress.remainingMs(), (period + 1) * REQUEST_MS - now),
        what,
        describe: () => `request ${name} is pending`,
        report: () => {},
      },
    ).catch((error: unknown) => {
      progress.signal.throwIfAborted();
      if (error instanceof Failure && error.kind === 'deadline') return 'repeat';
      throw error;
    }),
  );
  return decided === 'repeat' ? undefined : decided;
}

/** One that exists is an earlier attempt's; what is issued for it is compared with the key. */
async function submit(
  client: KubeClient,
  name: string,
  context: PlainHost,
  privateKey: string,
  signal: AbortSignal,
): Promise<void> {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const subject = { commonName: nodeUser(context), organizations: ['system:nodes'] };
  const pem = await certificateRequest(subject, { privateKey, publicKey });
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  };
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  try {
    await client.create(certificateSigningRequests, {}, body, limits);
  } catch (error) {
    if (isKubeError(error, 'conflict')) return;
    if (!isKubeError(error) || error.code !== 401) throw error;
    throw new Failure(
      'fatal',
      'the API server does not accept the bootstrap token of this worker',
      {
        expected: 'a token that has not expired',
        fix: 'Create a new Ignition config with "sno create worker-ignition", and write the image to this disk again.',
        cause: error,
      },
    );
  }
}

/** The certificate, or `repeat` if the request was deleted; undefined while it is pending. */
function decision(request: CertificateSigningRequest | undefined): string | undefined {
  if (request === undefined) return 'repeat';
  const refusal = request.status?.conditions?.find(({ type }) => type !== 'Approved');
  if (refusal !== undefined) {
    throw new Failure('fatal', `the request ${request.metadata.name} was not granted`, {
      found: [refusal.type, refusal.reason, refusal.message].filter(Boolean).join(', '),
    });
  }
  const { certificate } = request.status ?? {};
  return certificate === undefined ? undefined : Buffer.from(certificate, 'base64').toString();
}

/** Whoever has the token may have made a request of that name. */
function requireFit(pem: string, key: string, context: PlainHost): void {
  const { clientAuth } = inspectCertificate(pem);
  const isForKey = new X509Certificate(pem).checkPrivateKey(createPrivateKey(key));
  if (isForKey && clientAuth && isOfNode(pem, context)) return;
  throw new Failure('retry', 'the certificate that was issued is not for this host and its key', {
    expected: nodeUser(context),
    found: isForKey ? inspectCertificate(pem).subject.commonName : 'another key',
  });
}
