import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { KubeClient, kubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { readKubeconfig } from '../../lib/clients/kube/kubeconfig.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { publishedRootCa } from '../../lib/clients/kube/root-ca.ts';
import { trustDigest } from '../../lib/cluster/workers/api-trust.ts';
import { workerPaths } from '../../lib/cluster/workers/paths.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, type NewFile, writeFileAtomic } from '../../lib/host/files.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
} from '../../lib/host/kubelet-environment.ts';
import { hostAddresses, nodeIpsOf } from '../../lib/host/network.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { certificatesIn } from '../../lib/pki/certificate.ts';
import { kubeletTrust, workerKubeletFiles } from '../../lib/render/kubernetes/kubelet.ts';
import { podEgressFile } from '../../lib/render/kubernetes/pod-egress.ts';
import type { PlainHost } from '../steps/host-context.ts';
import { currentIdentity } from '../steps/kubelet-client-file.ts';
import { kubeletFacts } from '../steps/kubelet-facts.ts';
import { payloadFolder } from '../steps/payload-folder.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';
import { recordReadByKubelet } from './trust/kubelet-record.ts';

/** Where the API server publishes the authorities of its clients, in kube-system. */
const TRUST = 'extension-apiserver-authentication';

/**
 * Writes the kubelet's configuration, the host's name and address for it, the address translation of
 * its pods, and the authorities of the kubelet's clients, which the cluster publishes: the API server,
 * and administrators.
 */
export const placeKubeletFiles: StepBody<PlainHost> = {
  name: 'kubelet-files',
  leaves: "the kubelet's configuration and kubeconfig, and its host name and addresses",
  touches: ['disk', 'api', 'runtime', 'network'],
  retries: true,
  input: ({ cluster, hostname }) => [cluster.clusterId, hostname()],
  holds: ({ paths }) => exists(kubeletEnvironmentPath(paths)),
  async run(context, { signal }) {
    const { paths, cluster, hostname } = context;
    const nodeIps = nodeIpsOf(await hostAddresses(signal), cluster.machineNetwork);
    if (nodeIps === undefined) {
      throw new Failure('retry', 'the host lacks an address in the machine networks', {
        code: 'address-missing',
        expected: `one of each family in ${cluster.machineNetwork.join(', ')}`,
      });
    }
    const payload = await readPayload(payloadFolder(context));
    const input = { cluster, host: await kubeletFacts(paths, payload, signal) };
    const api = await apiAuthorityOf(context, signal);
    const files: NewFile[] = [
      ...(api === undefined ? [] : [{ path: kubeletTrust.api, contents: api, mode: 0o644 }]),
      ...workerKubeletFiles(input, await clientsOf(context, signal)),
      podEgressFile(cluster),
      { path: '/etc/hostname', contents: `${hostname()}\n`, mode: 0o644 },
    ].map((file) => ({ ...file, path: paths.at(file.path) }));
    await mkdir(paths.kubelet, { recursive: true });
    await chmod(paths.kubelet, 0o700);
    for (const { path, contents, mode } of files) await writeFileAtomic(path, contents, mode);
    // Its first start reads them: sno-worker-trust has nothing to restart.
    await recordReadByKubelet(
      paths,
      trustDigest(await readFile(paths.at(kubeletTrust.api), 'utf8')),
    );
    // Last: it shows that the others are complete.
    const environment = kubeletEnvironmentText({ nodeIps });
    await writeFileAtomic(kubeletEnvironmentPath(paths), environment, 0o644);
    return done([hostname(), ...nodeIps].join(', '));
  },
};

/**
 * Whom the kubelet knows the API server by: the authority that the cluster publishes, once it has
 * verified the server. That of worker.ign may be one whose key is on a medium. Undefined: that stays, since a
 * cluster of an earlier release lets no worker read the other one.
 */
async function apiAuthorityOf(
  { paths }: PlainHost,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const access = await readKubeconfig(paths.at(workerPaths.bootstrapKubeconfig));
  using client = new KubeClient(access);
  const published = await publishedRootCa(client, limits).catch((error: unknown) => {
    if (isKubeError(error, 'rejected') && error.code === 403) return undefined;
    throw error;
  });
  if (published === undefined) return undefined;
  using verifying = new KubeClient({ ...access, ca: published });
  await publishedRootCa(verifying, limits);
  return published;
}

/**
 * The published authorities without the one that signs nodes' identities: no node is a client of
 * another one's kubelet.
 */
async function clientsOf({ paths }: PlainHost, signal: AbortSignal): Promise<string> {
  using client = await kubeClient(paths.at(workerPaths.bootstrapKubeconfig));
  const place = { namespace: 'kube-system', name: TRUST };
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const { data } = await client.get(resources.configMaps, place, limits);
  const own = new X509Certificate((await currentIdentity(paths)) ?? '');
  const clients = certificatesIn(data?.['client-ca-file'] ?? '').filter(
    (authority) => !own.checkIssued(new X509Certificate(authority)),
  );
  if (clients.length > 0) return clients.map((pem) => `${pem.trimEnd()}\n`).join('');
  throw new Failure('retry', `the ConfigMap kube-system/${TRUST} has no authority of clients`, {
    expected: 'client-ca-file with the certificate of the authority admin-ca',
  });
}
