import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ProgramOptions, programBytes } from '../payload/elf/program.ts';
import { dockerArchive, layerOf, ociArchive, tarOf } from '../payload/image/archives.ts';

/** The command line of `sno create payload` by option; test cases replace parts of it. */
export interface PayloadArguments {
  images: Record<string, string>;
  references: Record<string, string>;
  binaries: Record<string, string>;
  cni: string[];
  others: string[];
}

export interface PayloadSources {
  folder: string;
  arguments: PayloadArguments;
  /** Writes an additional source and returns its path. */
  write(name: string, contents: string | Buffer): string;
}

const FLANNEL = 'path\tgithub.com/flannel-io/flannel\n';
const kubernetes: ProgramOptions = { modules: 'mod\tk8s.io/kubernetes\tv1.37.2\t\n' };

export const kubernetesProgram = (name: string, options: ProgramOptions = {}): Buffer =>
  programBytes({ ...kubernetes, text: name, ...options });

/** Small sources of every kind: archives of both formats, programs, plugins. */
export async function payloadSources(folder: string): Promise<PayloadSources> {
  mkdirSync(join(folder, 'cni'), { recursive: true });
  const write = (name: string, contents: string | Buffer) => {
    writeFileSync(join(folder, name), contents);
    return join(folder, name);
  };
  const oci = await ociArchive([
    {
      layer: await layerOf('scheduler'),
      annotations: {
        'org.opencontainers.image.ref.name': 'registry.k8s.io/kube-scheduler:v1.37.2',
      },
    },
  ]);
  const etcd = await tarOf(
    await dockerArchive([
      { references: ['registry.k8s.io/pause:3.10'] },
      { references: ['registry.k8s.io/etcd:3.6.8-0'], layer: await layerOf('etcd') },
    ]),
  );
  const addOns = await tarOf(
    await dockerArchive([
      { references: ['registry.k8s.io/kube-proxy:v1.37.2'], layer: await layerOf('proxy') },
      { references: ['docker.io/rancher/local-path-provisioner:v0.0.30'] },
    ]),
  );
  for (const name of ['bridge', 'host-local', 'loopback', 'portmap']) {
    const modules = `path\tgithub.com/containernetworking/plugins/plugins/main/${name}\n`;
    write(`cni/${name}`, programBytes({ modules, text: name }));
  }
  return {
    folder,
    write,
    arguments: {
      images: {
        etcd: write('etcd.tar', etcd),
        'kube-apiserver': write('kube-apiserver', kubernetesProgram('apiserver')),
        'kube-controller-manager': write('kcm', kubernetesProgram('controller-manager')),
        'kube-scheduler': write('kube-scheduler.tar.gz', gzipSync(await tarOf(oci))),
        pause: write('pause', programBytes({ text: 'pause' })),
        'kube-proxy': write('addons.tar', addOns),
        coredns: write('coredns', programBytes({ text: 'coredns' })),
        flannel: write('flannel', programBytes({ modules: FLANNEL, text: 'flannel' })),
        'local-path-provisioner': join(folder, 'addons.tar'),
      },
      references: {
        pause: 'registry.k8s.io/pause:3.10',
        coredns: 'registry.k8s.io/coredns/coredns:v1.12.1',
        flannel: 'docker.io/flannel/flannel:v0.28.10',
      },
      binaries: {
        kubelet: write('kubelet', kubernetesProgram('kubelet')),
        etcdutl: write(
          'etcdutl',
          programBytes({
            modules:
              'path\tgo.etcd.io/etcd/etcdutl/v3\nmod\tgo.etcd.io/etcd/etcdutl/v3\tv3.6.8\t\n',
          }),
        ),
      },
      cni: [join(folder, 'cni')],
      others: [],
    },
  };
}

/** As passed to `sno` by the shell. */
export function createArguments(dir: string, given: PayloadArguments): string[] {
  const { images, references, binaries, cni, others } = given;
  const named = (option: string, values: Record<string, string>) =>
    Object.entries(values).flatMap(([name, value]) => [option, `${name}=${value}`]);
  return [
    ...['create', 'payload', '--dir', dir],
    ...named('--image', images),
    ...named('--reference', references),
    ...named('--binary', binaries),
    ...cni.flatMap((folder) => ['--cni', folder]),
    ...others,
  ];
}
