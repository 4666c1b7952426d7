import t from 'tap';
import { parse } from 'yaml';
import { rendered } from './rendered-host.ts';

/** The differences between components. */
const COMPONENTS = [
  {
    component: 'etcd',
    // Restarting etcd restarts everything, so it has half a minute to sync.
    grace: 30,
    requests: { cpu: '100m', memory: '128Mi' },
    live: { path: '/livez', port: 2381, scheme: 'HTTP' },
    ready: { path: '/readyz', port: 2381, scheme: 'HTTP' },
    mounts: { '/etc/kubernetes/pki/etcd': true, '/var/lib/etcd': false },
  },
  {
    component: 'kube-apiserver',
    // Longer than a request may take (60 s), since it waits for open requests.
    grace: 75,
    requests: { cpu: '250m', memory: '512Mi' },
    live: { path: '/livez', port: 6443, scheme: 'HTTPS' },
    ready: { path: '/readyz', port: 6443, scheme: 'HTTPS' },
    mounts: {
      '/etc/kubernetes/pki/kube-apiserver': true,
      '/etc/kubernetes/kube-apiserver': true,
      '/etc/kubernetes/pki/service-account': true,
      '/var/log/kube-apiserver': false,
    },
  },
  {
    component: 'kube-controller-manager',
    grace: 30,
    requests: { cpu: '100m', memory: '128Mi' },
    live: { path: '/healthz', port: 10257, scheme: 'HTTPS' },
    ready: { path: '/healthz', port: 10257, scheme: 'HTTPS' },
    // Its signing keys, each folder separately: not those of etcd, serving and front-proxy.
    mounts: {
      '/etc/kubernetes/pki/kube-controller-manager': true,
      '/etc/kubernetes/kube-controller-manager': true,
      '/etc/kubernetes/pki/service-account': true,
      '/etc/kubernetes/pki/ca/kubelet-serving': true,
      '/etc/kubernetes/pki/ca/kubelet-client': true,
      '/etc/kubernetes/pki/ca/admin': true,
      '/etc/kubernetes/pki/ca/legacy-unknown': true,
    },
  },
  {
    component: 'kube-scheduler',
    grace: 30,
    requests: { cpu: '50m', memory: '64Mi' },
    live: { path: '/livez', port: 10259, scheme: 'HTTPS' },
    ready: { path: '/readyz', port: 10259, scheme: 'HTTPS' },
    mounts: {
      '/etc/kubernetes/pki/kube-scheduler': true,
      '/etc/kubernetes/kube-scheduler': true,
    },
  },
] as const;

for (const { component, grace, requests, live, ready, mounts } of COMPONENTS) {
  t.test(`${component}: the whole pod but for its flags`, async (t) => {
    const pod = rendered.staticPods.find((each) => each.component === component);
    const { spec, ...head } = parse(pod?.manifest ?? '');
    t.same(pod?.file, `${component}.yaml`);
    t.match(head.metadata.annotations, { 'sno-agents/read-once': /^[0-9a-f]{16}$/ });
    t.same(head, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        annotations: { 'sno-agents/read-once': head.metadata.annotations['sno-agents/read-once'] },
        name: component,
        namespace: 'kube-system',
        labels: { 'app.kubernetes.io/name': component, component, tier: 'control-plane' },
      },
    });
    const { containers, volumes, ...rest } = spec;
    t.same(rest, {
      hostNetwork: true,
      // Not the cluster's DNS, which needs the API server to run.
      dnsPolicy: 'Default',
      enableServiceLinks: false,
      // Never evicted or preempted by a workload.
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      terminationGracePeriodSeconds: grace,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    });
    t.equal(containers.length, 1);
    const [{ command, volumeMounts, ...container }] = containers;
    const httpGet = (check: object) => ({ host: '127.0.0.1', ...check });
    t.same(container, {
      name: pod?.container,
      image: `example.test/${component}:1`,
      // From the payload: the site may have no registry to ask.
      imagePullPolicy: 'IfNotPresent',
      resources: { requests },
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        privileged: false,
        readOnlyRootFilesystem: true,
        // A container_t reads neither /etc/kubernetes nor /var/lib/etcd, whose labels stay.
        seLinuxOptions: { type: 'spc_t' },
      },
      // 600 s: a large database on a slow disk is no reason to kill it.
      startupProbe: {
        httpGet: httpGet(live),
        periodSeconds: 2,
        timeoutSeconds: 5,
        failureThreshold: 300,
      },
      livenessProbe: {
        httpGet: httpGet(live),
        periodSeconds: 10,
        timeoutSeconds: 15,
        failureThreshold: 8,
      },
      readinessProbe: {
        httpGet: httpGet(ready),
        periodSeconds: 2,
        timeoutSeconds: 15,
        failureThreshold: 3,
      },
      terminationMessagePolicy: 'FallbackToLogsOnError',
    });
    const name = (path: string) => path.slice(1).replaceAll('/', '-');
    t.same(
      volumeMounts,
      Object.entries(mounts).map(([path, readOnly]) => ({
        name: name(path),
        mountPath: path,
        readOnly,
      })),
    );
    t.same(
      volumes,
      Object.keys(mounts).map((path) => ({
        name: name(path),
        hostPath: { path, type: 'Directory' },
      })),
    );
  });
}
