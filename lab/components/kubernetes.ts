import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';
import { KUBERNETES_VERSIONS, type KubernetesMinor, kubernetesMinor } from './versions.ts';

export const programs = [
  'kubelet',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kube-proxy',
];

/** The folder with go.mod and go.sum of all programs of a minor version, which pin-kubernetes.ts writes. */
export const kubernetesModule = (minor: KubernetesMinor): string =>
  join(import.meta.dirname, 'kubernetes', minor);

/** The import paths and names of programs, and the flags that stamp their version. */
export function kubernetesBuild(minor: KubernetesMinor, names: readonly string[]) {
  const stamp = 'k8s.io/component-base/version';
  const [, number] = minor.split('.');
  return {
    module: kubernetesModule(minor),
    packages: Object.fromEntries(names.map((name) => [`k8s.io/kubernetes/cmd/${name}`, name])),
    ldflags: [
      `-X ${stamp}.gitVersion=v${KUBERNETES_VERSIONS[minor]}`,
      `-X ${stamp}.gitMajor=1 -X ${stamp}.gitMinor=${number}`,
    ],
  };
}

/** All programs in one build: what they share is most of it. */
export const kubernetesOf = (minor: KubernetesMinor): Component => ({
  name: `kubernetes-${minor}`,
  version: KUBERNETES_VERSIONS[minor],
  recipe: [import.meta.filename, kubernetesModule(minor)],
  build: (target, context) => {
    const build = kubernetesBuild(minor, programs);
    return buildGoBinaries(target, { ...build, deadlineMs: 45 * 60_000 }, context);
  },
});

/** Of the lab's own version. */
export const kubernetes = kubernetesOf(kubernetesMinor);
