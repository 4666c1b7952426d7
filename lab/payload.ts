import { join } from 'node:path';
import { run } from '../lib/host/command.ts';
import { cniPlugins } from './components/cni-plugins.ts';
import type { Component } from './components/component.ts';
import { COREDNS_VERSION, coredns } from './components/coredns.ts';
import { etcd } from './components/etcd.ts';
import { FLANNEL_VERSION, flannel } from './components/flannel.ts';
import { KUBE_PROXY_IMAGE, kubeProxy } from './components/kube-proxy.ts';
import { KUBERNETES_VERSION, kubernetes } from './components/kubernetes.ts';
import {
  LOCAL_PATH_PROVISIONER_IMAGE,
  localPathProvisioner,
} from './components/local-path-provisioner.ts';
import { PAUSE_VERSION, pause } from './components/pause.ts';
import { repository } from './paths.ts';

const images: Readonly<Record<string, Component>> = {
  etcd,
  'kube-apiserver': kubernetes,
  'kube-controller-manager': kubernetes,
  'kube-scheduler': kubernetes,
  pause,
  coredns,
};

/** Images of more than one program. */
const archives: Readonly<Record<string, readonly [Component, string]>> = {
  'kube-proxy': [kubeProxy, KUBE_PROXY_IMAGE],
  'local-path-provisioner': [localPathProvisioner, LOCAL_PATH_PROVISIONER_IMAGE],
};

const binaries: Readonly<Record<string, Component>> = {
  kubelet: kubernetes,
  kubectl: kubernetes,
  etcdutl: etcd,
};

const CREATE_MS = 5 * 60_000;
const sno = join(repository, 'cli/main.ts');

/** A program of a component under another name. */
interface ProgramFile {
  readonly component: Component;
  readonly file: string;
}

/** An image that is made of a program, and its tag in a registry. */
interface FurtherImage {
  readonly component: Component;
  readonly reference: string;
}

/**
 * A payload that `sno create payload` makes of the lab's programs. Cached like a component: it depends
 * only on them and on the sources that write it.
 */
const payloadWith = (
  name: string,
  further: Readonly<Record<string, FurtherImage>>,
  { kubernetesVersion, programs }: Variant = { programs: images },
): Component => ({
  name,
  version: KUBERNETES_VERSION,
  recipe: [
    import.meta.filename,
    ...[
      'cli/create/payload.ts',
      'cli/payload',
      'lib/payload/elf',
      'lib/payload/image',
      'lib/payload',
    ].map((path) => join(repository, path)),
  ],
  needs: [
    ...[kubernetes, etcd, cniPlugins, pause, kubeProxy, coredns, localPathProvisioner],
    ...Object.values(further).map(({ component }) => component),
  ],
  build: async (target, { folderOf, signal, report }) => {
    report('sno create payload');
    const named = (option: string, parts: Readonly<Record<string, Component | ProgramFile>>) =>
      Object.entries(parts).flatMap(([name, part]) => {
        const { component, file } = 'file' in part ? part : { component: part, file: name };
        return [option, `${name}=${join(folderOf(component), file)}`];
      });
    const args = [
      ...['create', 'payload', '--dir', target, '--cni', folderOf(cniPlugins)],
      ...named('--image', programs),
      ...(kubernetesVersion === undefined ? [] : ['--kubernetes-version', kubernetesVersion]),
      ...(kubernetesVersion === undefined ? [] : scheduler(kubernetesVersion)),
      ...Object.entries(archives).flatMap(([name, [component, file]]) => [
        '--image',
        `${name}=${join(folderOf(component), file)}`,
      ]),
      ...['--reference', `pause=registry.k8s.io/pause:${PAUSE_VERSION}`],
      ...['--reference', `coredns=registry.k8s.io/coredns/coredns:v${COREDNS_VERSION}`],
      ...Object.entries(further).flatMap(([name, { component, reference }]) => [
        ...named('--image', { [name]: component }),
        ...['--reference', `${name}=${reference}`],
      ]),
      ...named('--binary', binaries),
    ];
    // From source: the executable may still be building.
    await run(process.execPath, [sno, ...args], { signal, deadlineMs: CREATE_MS });
  },
});

/** Another version of the same payload. */
interface Variant {
  readonly programs: Readonly<Record<string, Component | ProgramFile>>;
  /** Of the payload, and of the image that differs: kube-scheduler. */
  readonly kubernetesVersion?: string;
}

const scheduler = (version: string) => [
  '--reference',
  `kube-scheduler=registry.k8s.io/kube-scheduler:${version}`,
];

/** Of most scenarios. */
export const payload = payloadWith('payload', {});

/** Of clusters with workers. */
export const routedPayload = payloadWith('routed-payload', {
  flannel: {
    component: flannel,
    reference: `docker.io/flannel/flannel:v${FLANNEL_VERSION}`,
  },
});

/** An update: a later patch release whose scheduler has another image. */
export const laterPayload = payloadWith(
  'later-payload',
  {},
  { kubernetesVersion: 'v1.34.5', programs: images },
);

/** An update that does not settle: its scheduler is a program that schedules nothing. */
export const brokenPayload = payloadWith(
  'broken-payload',
  {},
  {
    kubernetesVersion: 'v1.34.6',
    programs: { ...images, 'kube-scheduler': { component: pause, file: 'pause' } },
  },
);
