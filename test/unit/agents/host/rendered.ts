import type { Rendered } from '../../../../lib/render/renderer.ts';
import { type RenderedIdentity, saveRendered } from '../../../../lib/render/store.ts';
import type { TestHost } from './host.ts';
import type { FakeContainer } from './runtime.ts';

const ROLES = {
  etcd: 'database',
  'kube-apiserver': 'api-server',
  'kube-controller-manager': 'leader',
  'kube-scheduler': 'leader',
} as const;
const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** A control plane whose manifests are its components' names. */
export const rendered: Rendered = {
  directories: [{ path: '/etc/kubernetes/manifests', mode: 0o700, uses: [] }],
  files: [
    {
      path: '/etc/kubernetes/kubelet.yaml',
      mode: 0o600,
      contents: 'kubelet',
      uses: ['standalone-kubelet'],
    },
    { path: '/etc/kubernetes/other.yaml', mode: 0o600, contents: 'other', uses: ['node'] },
  ],
  staticPods: COMPONENTS.map((component) => ({
    component,
    role: ROLES[component],
    file: `${component}.yaml`,
    container: component,
    manifest: `manifest of ${component}\n`,
  })),
  leases: [
    { namespace: 'kube-system', name: 'kube-controller-manager' },
    { namespace: 'kube-system', name: 'kube-scheduler' },
  ],
  manifests: [],
};

/** The files left on this host by the render step. */
export async function giveRendered(host: TestHost, more: Partial<Rendered> = {}): Promise<void> {
  const identity: RenderedIdentity = { hostname: 'edge-0', nodeIps: ['192.0.2.10'] };
  await saveRendered(host.paths, 'input', identity, { ...rendered, ...more });
}

export const podPath = (component: string) => `/etc/kubernetes/manifests/${component}.yaml`;

/** Like a kubelet: a running container for each placed static pod. */
export const containersOf = (host: TestHost): FakeContainer[] =>
  Object.keys(ROLES).map((name) => ({
    name,
    state: host.has(podPath(name)) ? 'running' : 'exited',
  }));
