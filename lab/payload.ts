import { join } from 'node:path';
import { run } from '../lib/host/command.ts';
import { cniPlugins } from './components/cni-plugins.ts';
import type { Component } from './components/component.ts';
import { COREDNS_VERSION, coredns } from './components/coredns.ts';
import { etcdOf } from './components/etcd.ts';
import { FLANNEL_VERSION, flannel } from './components/flannel.ts';
import { KUBE_PROXY_IMAGE, kubeProxyOf } from './components/kube-proxy.ts';
import { kubernetesOf } from './components/kubernetes.ts';
import {
  LOCAL_PATH_PROVISIONER_IMAGE,
  localPathProvisioner,
} from './components/local-path-provisioner.ts';
import { PAUSE_VERSION, pause } from './components/pause.ts';
import {
  ETCD_VERSIONS,
  type EtcdMinor,
  etcdMinor,
  KUBERNETES_VERSIONS,
  type KubernetesMinor,
  kubernetesMinor,
} from './components/versions.ts';
import { repository } from './paths.ts';

/** The minor versions of a payload. */
interface Minors {
  readonly kubernetes: KubernetesMinor;
  readonly etcd: EtcdMinor;
}

const own: Minors = { kubernetes: kubernetesMinor, etcd: etcdMinor };

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

/** What differs from the payload of most scenarios. */
interface Variant {
  readonly minors?: Minors;
  readonly further?: Readonly<Record<string, FurtherImage>>;
  /** In place of its own, under a name of its own. */
  readonly scheduler?: { readonly program?: ProgramFile; readonly reference: string };
  readonly compress?: boolean;
}

/**
 * A payload that `sno create payload` makes of the lab's programs. Cached like a component: it depends
 * only on them and on the sources that write it.
 */
function payloadWith(
  name: string,
  { minors = own, further = {}, scheduler, compress = false }: Variant = {},
): Component {
  const kubernetes = kubernetesOf(minors.kubernetes);
  const kubeProxy = kubeProxyOf(minors.kubernetes);
  const etcd = etcdOf(minors.etcd);
  return {
    name: `${name}-${minors.kubernetes}-${minors.etcd}`,
    version: `${KUBERNETES_VERSIONS[minors.kubernetes]}-${ETCD_VERSIONS[minors.etcd]}`,
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
      const images = {
        etcd,
        'kube-apiserver': kubernetes,
        'kube-controller-manager': kubernetes,
        'kube-scheduler': scheduler?.program ?? kubernetes,
        pause,
        coredns,
        // Archives: images of more than one program.
        'kube-proxy': { component: kubeProxy, file: KUBE_PROXY_IMAGE },
        'local-path-provisioner': {
          component: localPathProvisioner,
          file: LOCAL_PATH_PROVISIONER_IMAGE,
        },
      };
      const references = {
        pause: `registry.k8s.io/pause:${PAUSE_VERSION}`,
        coredns: `registry.k8s.io/coredns/coredns:v${COREDNS_VERSION}`,
        ...(scheduler && { 'kube-scheduler': scheduler.reference }),
        ...Object.fromEntries(
          Object.entries(further).map(([name, { reference }]) => [name, reference]),
        ),
      };
      const args = [
        ...['create', 'payload', '--dir', target, '--cni', folderOf(cniPlugins)],
        ...named('--image', images),
        ...Object.entries(further).flatMap(([name, { component }]) =>
          named('--image', { [name]: component }),
        ),
        ...Object.entries(references).flatMap(([name, reference]) => [
          ...['--reference', `${name}=${reference}`],
        ]),
        ...named('--binary', { kubelet: kubernetes, kubectl: kubernetes, etcdutl: etcd }),
        ...(compress ? ['--compress'] : []),
      ];
      // From source: the executable may still be building.
      await run(process.execPath, [sno, ...args], { signal, deadlineMs: CREATE_MS });
    },
  };
}

/** Of most scenarios. */
export const payload = payloadWith('payload');

/** The same for a slow medium. */
export const compressedPayload = payloadWith('compressed-payload', { compress: true });

/** Of other versions than the lab's own. */
export const payloadOf = (minors: Minors): Component => payloadWith('payload', { minors });

/** Of clusters with workers. */
export const routedPayloadOf = (minors: Minors): Component =>
  payloadWith('routed-payload', {
    minors,
    further: {
      flannel: {
        component: flannel,
        reference: `docker.io/flannel/flannel:v${FLANNEL_VERSION}`,
      },
    },
  });

export const routedPayload = routedPayloadOf(own);

const schedulerOf = (registry: string, { kubernetes }: Minors) =>
  `${registry}/kube-scheduler:v${KUBERNETES_VERSIONS[kubernetes]}`;

/** Its scheduler is a program that schedules nothing: an update to it does not settle. */
export const brokenPayloadOf = (minors: Minors): Component =>
  payloadWith('broken-payload', {
    minors,
    scheduler: {
      program: { component: pause, file: 'pause' },
      reference: schedulerOf('broken.lab', minors),
    },
  });

/** The references of images that show which minor versions run. */
export const imagesOf = (minors: Minors) => ({
  'kube-scheduler': schedulerOf('registry.k8s.io', minors),
  etcd: `registry.k8s.io/etcd:${ETCD_VERSIONS[minors.etcd]}-0`,
});

/** The reference of the scheduler in laterPayload. */
export const LATER_SCHEDULER = schedulerOf('later.lab', own);

/** An update of the same versions, whose scheduler has another image. */
export const laterPayload = payloadWith('later-payload', {
  scheduler: { reference: LATER_SCHEDULER },
});

/** One that does not settle. */
export const brokenPayload = brokenPayloadOf(own);
