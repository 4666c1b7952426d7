import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';
import { goModuleFolder } from './go-build.ts';
import { kubernetesModule } from './kubernetes.ts';
import { kubernetesMinor } from './versions.ts';

const module = kubernetesModule(kubernetesMinor);

/** The version as the kubelet and containerd name it, not the Kubernetes version. */
export const PAUSE_VERSION = '3.10';

/** The process that holds a pod's namespaces, from the source that Kubernetes ships. */
export const pause: Component = {
  name: 'pause',
  version: PAUSE_VERSION,
  recipe: [import.meta.filename, join(module, 'go.mod')],
  build: async (target, { signal }) => {
    const work = join(target, '.source');
    const source = await goModuleFolder(module, 'k8s.io/kubernetes', work, signal);
    const flags = ['-Os', '-Wall', '-static', '-s', `-DVERSION=v${PAUSE_VERSION}`];
    const code = join(source, 'build/pause/linux/pause.c');
    await execa('gcc', [...flags, '-o', join(target, 'pause'), code], {
      cancelSignal: signal,
      timeout: 60_000,
    });
    await rm(work, { recursive: true });
  },
};
