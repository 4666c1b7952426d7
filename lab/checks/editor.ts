import { Failure } from '../../lib/base/errors/failure.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const namespace = 'edited';
const editedNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
const asEditor = ['--as=editor@example.test', '--as-group=system:authenticated'];

const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'editor', namespace },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'editor@example.test' }],
};

const container = { name: 'try', image: HELLO_IMAGE, imagePullPolicy: 'Never' };
const pod = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: { containers: [container], ...spec },
});

const rootOfHost = pod('host-path', {
  volumes: [{ name: 'root', hostPath: { path: '/' } }],
});
const privileged = pod('privileged', {
  containers: [{ ...container, securityContext: { privileged: true } }],
});
const redirecting = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'redirecting', namespace },
  spec: { ports: [{ port: 443 }], externalIPs: ['192.0.2.1'] },
};

/** Whoever may edit one namespace is not root on the host and cannot take over the traffic of others. */
export const editor: RunningCheck = {
  name: 'an editor of a namespace gets neither the host nor the traffic of others',
  run: async (cluster, signal) => {
    await applyObject(cluster, editedNamespace, signal);
    await applyObject(cluster, binding, signal);
    await applyObject(cluster, pod('plain', {}), signal, asEditor);
    for (const [object, reason] of [
      [rootOfHost, /violates PodSecurity "baseline:latest": hostPath volumes/],
      [privileged, /violates PodSecurity "baseline:latest": privileged/],
      [redirecting, /external IPs is denied/i],
    ] as const) {
      await refused(cluster, object, reason, signal);
    }
    await kubectl(cluster, ['delete', 'namespace', namespace, '--wait=false'], signal);
  },
};

async function refused(
  cluster: RunningCluster,
  object: Parameters<typeof applyObject>[1],
  reason: RegExp,
  signal: AbortSignal,
): Promise<void> {
  const { name } = object.metadata;
  const found = await applyObject(cluster, object, signal, asEditor).then(
    () => 'it was created',
    (error: unknown) => {
      signal.throwIfAborted();
      return error instanceof Error ? error.message : String(error);
    },
  );
  if (reason.test(found)) return;
  throw new Failure('fatal', `${object.kind} ${name} is not refused`, {
    expected: String(reason),
    found,
  });
}
