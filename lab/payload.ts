import { join } from 'node:path';
import { run } from '../lib/host/command.ts';
import { cniPlugins } from './components/cni-plugins.ts';
import type { Component } from './components/component.ts';
import { etcd } from './components/etcd.ts';
import { KUBERNETES_VERSION, kubernetes } from './components/kubernetes.ts';
import { PAUSE_VERSION, pause } from './components/pause.ts';
import { repository } from './paths.ts';

const images: Readonly<Record<string, Component>> = {
  etcd,
  'kube-apiserver': kubernetes,
  'kube-controller-manager': kubernetes,
  'kube-scheduler': kubernetes,
  pause,
};

const binaries: Readonly<Record<string, Component>> = {
  kubelet: kubernetes,
  kubectl: kubernetes,
  etcdutl: etcd,
};

const CREATE_MS = 5 * 60_000;
const sno = join(repository, 'cli/main.ts');

/**
 * The payload that `sno create payload` makes of the lab's programs. Cached like a component:
 * it depends only on them and on the sources that write it.
 */
export const payload: Component = {
  name: 'payload',
  version: KUBERNETES_VERSION,
  recipe: [
    import.meta.filename,
    ...['cli/create/payload.ts', 'cli/payload', 'lib/elf', 'lib/image', 'lib/payload'].map((path) =>
      join(repository, path),
    ),
  ],
  needs: [kubernetes, etcd, cniPlugins, pause],
  build: async (target, { folderOf, signal, report }) => {
    report('sno create payload');
    const named = (option: string, parts: Readonly<Record<string, Component>>) =>
      Object.entries(parts).flatMap(([name, component]) => [
        option,
        `${name}=${join(folderOf(component), name)}`,
      ]);
    const args = [
      ...['create', 'payload', '--dir', target, '--cni', folderOf(cniPlugins)],
      ...named('--image', images),
      ...['--reference', `pause=registry.k8s.io/pause:${PAUSE_VERSION}`],
      ...named('--binary', binaries),
    ];
    // From source: the executable may still be building.
    await run(process.execPath, [sno, ...args], { signal, deadlineMs: CREATE_MS });
  },
};
