import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { x509 } from '../../lib/pki/x509.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const namespace = 'asking';
const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING = 'kubernetes.io/kubelet-serving';

/** A request as a kubelet sends it. */
async function request(name: string, node: string, signerName: typeof CLIENT | typeof SERVING) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const created = await x509.Pkcs10CertificateRequestGenerator.create({
    name: new x509.Name([{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }]),
    keys: await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']),
    signingAlgorithm: algorithm,
    extensions:
      signerName === SERVING
        ? [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: node }])]
        : [],
  });
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(`${created.toString('pem')}\n`).toString('base64'),
      signerName,
      usages: ['digital signature', signerName === SERVING ? 'server auth' : 'client auth'],
    },
  };
}

/** Whoever may send requests, as with a bootstrap token of other installers. */
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: namespace },
  roleRef: {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    name: 'system:node-bootstrapper',
  },
  subjects: [{ kind: 'ServiceAccount', name: 'asker', namespace }],
};

/** The cluster as its service account reaches it: with its token only. */
async function byToken(cluster: RunningCluster, signal: AbortSignal): Promise<RunningCluster> {
  await applyObject(
    cluster,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    signal,
  );
  await kubectl(cluster, ['create', 'serviceaccount', 'asker', '--namespace', namespace], signal);
  await applyObject(cluster, binding, signal);
  const create = ['create', 'token', 'asker', '--namespace', namespace];
  const token = (await kubectl(cluster, create, signal)).trim();
  const asker = { ...cluster, kubeconfig: join(cluster.folder, 'asker-kubeconfig') };
  await copyFile(cluster.kubeconfig, asker.kubeconfig);
  await kubectl(asker, ['config', 'set-credentials', 'asker', `--token=${token}`], signal);
  await kubectl(asker, ['config', 'set-context', '--current', '--user=asker'], signal);
  return asker;
}

const requestsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ username: z.string() }),
      status: z.object({ conditions: z.array(z.unknown()).optional() }),
    }),
  ),
});

/**
 * The node's own request for a client certificate is approved, so that its kubelet can rotate it;
 * requests of others for the same name are not, although they came first.
 */
export const nodeRequests: RunningCheck = {
  name: "requests of others for this node's certificates stay pending",
  run: async (cluster, signal) => {
    const names = await kubectl(cluster, ['get', 'nodes', '-o', 'name'], signal);
    const node = names.trim().replace('node/', '');
    const asker = await byToken(cluster, signal);
    await applyObject(asker, await request('asked-client', node, CLIENT), signal);
    await applyObject(asker, await request('asked-serving', node, SERVING), signal);
    const asNode = [`--as=system:node:${node}`, '--as-group=system:nodes'];
    await applyObject(cluster, await request('own-client', node, CLIENT), signal, [
      ...asNode,
      '--as-group=system:authenticated',
    ]);
    const approved = ['wait', '--for=condition=Approved', 'csr/own-client', '--timeout=50s'];
    await kubectl(cluster, approved, signal);
    const asked = ['asked-client', 'asked-serving'];
    const text = await kubectl(cluster, ['get', 'csr', ...asked, '-o', 'json'], signal);
    for (const { metadata, spec, status } of requestsSchema.parse(JSON.parse(text)).items) {
      const found = `${spec.username}: ${JSON.stringify(status)}`;
      const isPending = Object.keys(status).length === 0;
      if (spec.username === `system:serviceaccount:${namespace}:asker` && isPending) continue;
      throw new Failure('fatal', `the request ${metadata.name} is not pending`, { found });
    }
    await kubectl(cluster, ['delete', 'csr', 'own-client', ...asked], signal);
    await kubectl(cluster, ['delete', 'clusterrolebinding', namespace], signal);
    await kubectl(cluster, ['delete', 'namespace', namespace, '--wait=false'], signal);
  },
};
