import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ARM64, programBytes } from '../payload/elf/program.ts';
import { dockerArchive, tarOf } from '../payload/image/archives.ts';
import {
  kubernetesProgram,
  type PayloadArguments,
  type PayloadSources,
} from './payload-sources.ts';

type Change = (
  given: PayloadArguments,
  sources: Omit<PayloadSources, 'arguments'>,
) => void | Promise<void>;
const without = (values: Record<string, string>, name: string) => {
  delete values[name];
};

/** What `sno create payload` rejects, with every fault that it must name. */
export const badPayloads: readonly [name: string, change: Change, faults: readonly RegExp[]][] = [
  [
    'nothing given',
    (given) => Object.assign(given, { images: {}, references: {}, binaries: {}, cni: [] }),
    [/--kubernetes is missing: with a version such as/],
  ],
  [
    'one program alone',
    (given) => {
      const { etcdutl = '' } = given.binaries;
      Object.assign(given, { images: {}, references: {}, binaries: { etcdutl }, cni: [] });
    },
    [
      /--image etcd=FILE is missing\n/,
      /--image pause=FILE is missing\n/,
      /--binary kubelet=FILE is missing/,
      /states the version of kubernetes/,
    ],
  ],
  [
    'a misspelt name',
    ({ images }) => {
      images['kube-shceduler'] = images['kube-scheduler'] ?? '';
      without(images, 'kube-scheduler');
    },
    [/--image kube-scheduler=FILE is missing; is kube-shceduler meant\?/],
  ],
  [
    'an add-on that needs more than its program',
    ({ images }, { write }) => {
      images['kube-proxy'] = write('kube-proxy', kubernetesProgram('kube-proxy'));
      images['local-path-provisioner'] = write('provisioner', programBytes({ text: 'other' }));
    },
    [
      /--image kube-proxy=.*expected an image archive, which also contains nft/,
      /--image local-path-provisioner=.*which also contains sh, mkdir and rm/,
    ],
  ],
  [
    'another program as flannel',
    ({ images, binaries }) => {
      images.flannel = binaries.etcdutl ?? '';
    },
    [/--image flannel=.*another program.*expected flannel.*found etcdutl/],
  ],
  [
    'kube-proxy of another version of Kubernetes',
    async ({ images }, { write }) => {
      const references = ['registry.k8s.io/kube-proxy:v1.33.1'];
      images['kube-proxy'] = write('old.tar', await tarOf(await dockerArchive([{ references }])));
    },
    [/versions of kubernetes differ: .*image kube-proxy is v1\.33\.1/],
  ],
  [
    'no file',
    (given) => void given.others.push('--binary', 'crictl'),
    [/crictl: expected NAME=FILE/],
  ],
  [
    'a name with a path',
    (given) => void given.others.push('--binary', '../x=/bin/sh'),
    [/\.\.\/x=\/bin\/sh: expected NAME=FILE/],
  ],
  [
    'a name twice',
    (given) => void given.others.push('--binary', 'kubelet=/bin/sh'),
    [/--binary kubelet: given twice/],
  ],
  [
    'a reference of nothing, and a bad one',
    (given) => void given.others.push('--reference', 'x=etcd'),
    [/--reference x: there is no --image x/, /--reference x: expected registry.*found etcd/],
  ],
  [
    'files that are not there',
    ({ images, binaries, cni }) => {
      images.etcd = '/absent/etcd.tar';
      binaries.kubelet = '/absent/kubelet';
      cni.push('/absent/cni');
    },
    [
      /etcd=\/absent\/etcd\.tar: no such file or directory \(ENOENT\)/,
      /kubelet=\/absent\/kubelet: no such file or directory \(ENOENT\)/,
      /--cni \/absent\/cni: no such file/,
    ],
  ],
  [
    'folders and scripts for programs',
    ({ images, binaries }, { folder, write }) => {
      images.etcd = folder;
      binaries.kubelet = write('script', '#!/bin/sh\n');
    },
    [/--image etcd=.*not a regular file/, /--binary kubelet=.*not an ELF file/],
  ],
  [
    'programs given as each other',
    ({ images, binaries }, { write }) => {
      const of = (name: string) =>
        kubernetesProgram(name, {
          modules: `path\tk8s.io/kubernetes/cmd/${name}\nmod\tk8s.io/kubernetes\tv1.37.2\t\n`,
        });
      binaries.crictl = write('swapped-kubelet', of('kubelet'));
      binaries.kubelet = write('swapped-proxy', of('kube-proxy'));
      images['kube-apiserver'] = write('swapped-scheduler', of('kube-scheduler'));
      binaries.etcdutl = write(
        'swapped-strange',
        programBytes({
          modules: 'path\texample.com/etcdutl\nmod\tgo.etcd.io/etcd/etcdutl/v3\tv3.6.8\t\n',
        }),
      );
    },
    [
      /--image kube-apiserver=.*another program; expected kube-apiserver; found kube-scheduler \(Go main package k8s\.io/,
      /--binary kubelet=.*another program; expected kubelet; found kube-proxy/,
      /--binary etcdutl=.*expected etcdutl; found a program \(Go main package example\.com\/etcdutl\)/,
      /--binary crictl=.*another program; expected crictl; found kubelet \(Go main/,
    ],
  ],
  [
    'a library for a program',
    ({ binaries }, { write }) => {
      binaries.kubelet = write('library', programBytes({ type: 1 }));
    },
    [/--binary kubelet=.*cannot be run/],
  ],
  [
    'two architectures',
    ({ binaries }, { write }) => {
      binaries.kubelet = write('arm', kubernetesProgram('kubelet', { machine: ARM64 }));
    },
    [/different architectures \(amd64: image etcd, .*; arm64: binary kubelet\)/],
  ],
  [
    'an architecture that no host has',
    ({ images }, { write }) =>
      replaceEtcd(images, write, [{ references: ['r.io/etcd:3.6.8'], architecture: 's390x' }]),
    [/different architectures \(s390x: image etcd; amd64/],
  ],
  [
    'an archive of something else',
    ({ images }, { write }) => replaceEtcd(images, write, [{ references: ['r.io/kube-proxy:v1'] }]),
    [/etcd=.*is ambiguous: it has several images.*\/etcd:TAG; found r\.io\/kube-proxy:v1\./],
  ],
  [
    'a short name',
    ({ images }, { write }) => replaceEtcd(images, write, [{ references: ['etcd:3.6.8'] }]),
    [/found etcd:3\.6\.8\. Say which with --reference etcd=/],
  ],
  [
    'two names that fit',
    ({ images }, { write }) =>
      replaceEtcd(images, write, [{ references: ['r.io/etcd:3.6.8', 'r.io/etcd:3.6.9'] }]),
    [/expected one image .*found r\.io\/etcd:3\.6\.8, r\.io\/etcd:3\.6\.9/],
  ],
  [
    'one name for two architectures',
    ({ images }, { write }) =>
      replaceEtcd(images, write, [
        { references: ['r.io/etcd:3.6.8'] },
        { references: ['r.io/etcd:3.6.8'], architecture: 'arm64' },
      ]),
    [/etcd=.*holds r\.io\/etcd:3\.6\.8 for amd64 and arm64\. Save the image for one/],
  ],
  [
    'a reference that several images do not have',
    (given, { write }) => {
      given.references.etcd = 'r.io/etcd:3';
      return replaceEtcd(given.images, write, [
        { references: ['r.io/etcd:1'] },
        { references: ['r.io/etcd:2'] },
      ]);
    },
    [/etcd=.*expected r\.io\/etcd:3; found r\.io\/etcd:1, r\.io\/etcd:2/],
  ],
  [
    'a program without a reference',
    ({ references }) => without(references, 'pause'),
    [/--reference pause=/],
  ],
  [
    'a reference twice',
    ({ references }) => {
      references.pause = 'registry.k8s.io/kube-apiserver:v1.37.2';
    },
    [/the reference registry\.k8s\.io\/kube-apiserver:v1\.37\.2 occurs twice/],
  ],
  [
    'a plugin with the name of a program',
    ({ cni }, { folder, write }) => {
      mkdirSync(join(folder, 'cni-2'));
      write('cni-2/kubelet', programBytes());
      cni.push(join(folder, 'cni-2'));
    },
    [/the binary kubelet occurs twice/],
  ],
  [
    'different versions',
    ({ binaries }, { write }) => {
      const modules = 'mod\tk8s.io/kubernetes\tv1.33.0\t\n';
      binaries.kubelet = write('older', kubernetesProgram('kubelet', { modules }));
    },
    [/versions of kubernetes differ: .*kube-scheduler is v1\.37\.2, .*binary kubelet is v1\.33\.0/],
  ],
  [
    'versions that are none',
    (given) => void given.others.push('--kubernetes-version', 'latest', '--etcd-version', '3.6'),
    [/--kubernetes-version: expected .* found latest/, /--etcd-version: expected .* found 3\.6/],
  ],
  [
    'a damaged layer, and another',
    async ({ images }, { write }) => {
      for (const name of ['etcd', 'kube-scheduler']) {
        const references = [`registry.k8s.io/${name}:${name === 'etcd' ? '3.6.8-0' : 'v1.37.2'}`];
        const entries = await dockerArchive([{ references }]);
        const damaged = entries.map(([path, contents]): [string, string | Buffer] => [
          path,
          path.endsWith('.tar') ? Buffer.alloc(2048, 'x') : String(contents),
        ]);
        images[name] = write(`${name}-damaged.tar`, await tarOf(damaged));
      }
    },
    [/--image etcd=.*: the layer .* is damaged/, /--image kube-scheduler=.*is damaged/],
  ],
];

type Images = Parameters<typeof dockerArchive>[0];

async function replaceEtcd(
  images: Record<string, string>,
  write: PayloadSources['write'],
  contents: Images,
): Promise<void> {
  images.etcd = write('other-etcd.tar', await tarOf(await dockerArchive(contents)));
}
