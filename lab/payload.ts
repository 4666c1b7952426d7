import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { sha256OfFile } from '../lib/host/files.ts';
import { cniPlugins } from './components/cni-plugins.ts';
import type { BuildContext, Component } from './components/component.ts';
import { ETCD_VERSION, etcd } from './components/etcd.ts';
import { KUBERNETES_VERSION, kubernetes } from './components/kubernetes.ts';
import { PAUSE_VERSION, pause } from './components/pause.ts';
import { writeImageArchive } from './image-archive.ts';

const registry = 'registry.k8s.io';

/** Images of the payload: which binary of which component under which tag. */
const images = [
  { name: 'etcd', component: etcd, tag: `${ETCD_VERSION}-0` },
  { name: 'kube-apiserver', component: kubernetes, tag: `v${KUBERNETES_VERSION}` },
  { name: 'kube-controller-manager', component: kubernetes, tag: `v${KUBERNETES_VERSION}` },
  { name: 'kube-scheduler', component: kubernetes, tag: `v${KUBERNETES_VERSION}` },
  { name: 'pause', component: pause, tag: PAUSE_VERSION },
];

/** Binaries for the host itself. */
const binaries: readonly { name: string; component: Component; kind?: 'cni' }[] = [
  { name: 'kubelet', component: kubernetes },
  { name: 'kubectl', component: kubernetes },
  { name: 'etcdutl', component: etcd },
  ...['bridge', 'host-local', 'loopback', 'portmap'].map((name) => {
    return { name, component: cniPlugins, kind: 'cni' as const };
  }),
];

/**
 * A payload folder as `payload.yaml` describes it: images as docker archives, host
 * binaries, and the sha256 of each. Kept like a component, since it only depends on them.
 */
export const payload: Component = {
  name: 'payload',
  version: KUBERNETES_VERSION,
  recipe: [import.meta.filename, join(import.meta.dirname, 'image-archive.ts')],
  needs: [kubernetes, etcd, cniPlugins, pause],
  build: async (target, context) => {
    await mkdir(join(target, 'images'));
    await mkdir(join(target, 'bin'));
    const description = {
      apiVersion: 'sno-agents/v1',
      kind: 'Payload',
      versions: { kubernetes: `v${KUBERNETES_VERSION}`, etcd: `v${ETCD_VERSION}` },
      images: await addImages(target, context),
      binaries: await addBinaries(target, context),
    };
    await writeFile(join(target, 'payload.yaml'), stringify(description));
  },
};

async function addImages(target: string, { folderOf, signal, report }: BuildContext) {
  const entries = [];
  for (const { name, component, tag } of images) {
    report(`image ${name}`);
    const reference = `${registry}/${name}:${tag}`;
    const archive = `images/${name}.tar`;
    const path = `usr/local/bin/${name}`;
    const files = [{ path, source: join(folderOf(component), name) }];
    const image = { reference, files, entrypoint: [`/${path}`] };
    await writeImageArchive(join(target, archive), image, signal);
    const sha256 = await sha256OfFile(join(target, archive), signal);
    entries.push({ name, reference, archive, sha256 });
  }
  return entries;
}

async function addBinaries(target: string, { folderOf, signal }: BuildContext) {
  const entries = [];
  for (const { name, component, kind } of binaries) {
    const file = `bin/${name}`;
    await copyFile(join(folderOf(component), name), join(target, file));
    const sha256 = await sha256OfFile(join(target, file), signal);
    entries.push({ name, ...(kind === undefined ? {} : { kind }), file, sha256 });
  }
  return entries;
}
