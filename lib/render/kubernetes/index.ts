import type { Rendered, RenderedDirectory, Renderer, RenderInput } from '../renderer.ts';
import { addOnDirectories, addOnFiles } from './addons/index.ts';
import { authorityFiles, createAuthorities } from './authorities.ts';
import { cniFile } from './cni.ts';
import { etcdFiles, etcdPod } from './etcd.ts';
import { closedDirectories } from './files.ts';
import { apiServerFiles, apiServerPod } from './kube-apiserver.ts';
import { controllerManagerFiles, controllerManagerPod } from './kube-controller-manager.ts';
import { schedulerFiles, schedulerPod } from './kube-scheduler.ts';
import { agentKubeconfigFiles } from './kubeconfigs.ts';
import { kubeletFiles } from './kubelet.ts';
import { leases } from './leader-election.ts';
import { leafFiles } from './leaves.ts';
import { manifests } from './manifests.ts';
import { paths } from './paths.ts';
import { podEgressFile } from './pod-egress.ts';
import { withReadOnce } from './read-once.ts';
import { serviceAccountFiles } from './service-account.ts';

/** The control plane from a local payload: etcd and the Kubernetes components as static pods. */
export const kubernetesRenderer = { render } as const satisfies Renderer;

/** Has no effects except key generation: it needs no work folder and takes about a second. */
async function render(input: RenderInput): Promise<Rendered> {
  const authorities = await createAuthorities(input.authorities.servingCa);
  const files = [
    ...authorityFiles(authorities),
    ...(await leafFiles(input, authorities)),
    ...(await serviceAccountFiles()),
    ...etcdFiles(authorities),
    ...apiServerFiles(authorities, input.authorities.adminCa),
    ...controllerManagerFiles(authorities),
    ...schedulerFiles(authorities),
    ...kubeletFiles(input, authorities),
    ...agentKubeconfigFiles(input, authorities),
    cniFile(input),
    podEgressFile(input.cluster),
    ...addOnFiles(input),
  ];
  const closed = closedDirectories(files, [
    paths.pki,
    paths.kubelet,
    paths.agents,
    ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(paths.configOf),
  ]);
  const contents = new Map(files.map(({ path, contents }) => [path, contents]));
  return {
    directories: [...fixedDirectories, ...addOnDirectories(input), ...closed],
    files,
    staticPods: [
      etcdPod(input),
      apiServerPod(input),
      controllerManagerPod(input),
      schedulerPod(input),
    ].map((pod) => ({ ...pod, manifest: withReadOnce(pod, contents) })),
    leases,
    manifests: manifests(input),
  };
}

const everyKubelet = ['standalone-kubelet', 'node'] as const;

/** Folders that contain no rendered file when they are created. */
const fixedDirectories: readonly RenderedDirectory[] = [
  { path: paths.kubernetes, mode: 0o755, uses: everyKubelet },
  { path: paths.staticPods, mode: 0o700, uses: everyKubelet },
  { path: paths.auditLogs, mode: 0o700, uses: ['control-plane'] },
  // Restoring a snapshot creates the folder.
  { path: paths.etcdData, mode: 0o700, uses: ['new-database'] },
];
