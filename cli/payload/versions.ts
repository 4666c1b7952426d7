import type { Program } from '../../lib/payload/elf/elf.ts';
import { tagOf } from '../../lib/payload/image/reference.ts';
import type { PayloadDescription } from '../../lib/payload/payload.ts';
import type { ImagePart, PayloadParts } from './parts.ts';
import type { PayloadRequest } from './request.ts';

type Versions = PayloadDescription['versions'];

interface Subject {
  key: keyof Versions;
  option: string;
  images: readonly string[];
  /** Programs on the host that must have the same version. */
  binaries: readonly string[];
  module: RegExp;
  /** The version in an image's tag. */
  tag: RegExp;
}

const subjects: readonly Subject[] = [
  {
    key: 'kubernetes',
    option: '--kubernetes-version',
    images: ['kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kube-scheduler'],
    binaries: ['kubelet'],
    module: /^k8s\.io\/kubernetes$/,
    tag: /^v?(\d+\.\d+\.\d+[0-9A-Za-z.-]*)$/,
  },
  {
    key: 'etcd',
    option: '--etcd-version',
    images: ['etcd'],
    binaries: ['etcdutl'],
    module: /^go\.etcd\.io\/etcd\//,
    // Kubernetes appends a number of its own: 3.6.8-0.
    tag: /^v?(\d+\.\d+\.\d+)(-\d+)?$/,
  },
];

/**
 * The versions of Kubernetes and etcd: as given, else as determined from the
 * programs and the images' tags, which must then agree. All faults are added to
 * `faults`, which the caller reports.
 */
export function versionsOf(
  given: PayloadRequest['versions'],
  parts: Pick<PayloadParts, 'images' | 'binaries'>,
  faults: string[],
): Versions {
  const versions: Versions = { kubernetes: '', etcd: '' };
  for (const subject of subjects) {
    const { key, option } = subject;
    const stated = statements(subject, parts);
    const [version = '', another] = new Set(stated.map(({ version }) => version));
    if (given[key] === undefined && another !== undefined) {
      const list = stated.map(({ label, version }) => `${label} is ${version}`).join(', ');
      faults.push(
        `the versions of ${key} differ: ${list}. Use parts of one version, or set it with ${option}`,
      );
    }
    if (given[key] === undefined && version === '') {
      faults.push(`no program and no tag states the version of ${key}. Set it with ${option}`);
    }
    versions[key] = given[key] ?? version;
  }
  return versions;
}

function statements(
  { images, binaries, module, tag }: Subject,
  parts: Pick<PayloadParts, 'images' | 'binaries'>,
): { label: string; version: string }[] {
  const ofProgram = ({ module: found }: Program) =>
    found !== undefined && module.test(found.path) ? found.version : undefined;
  const ofImage = (part: ImagePart) => {
    const reference = part.kind === 'archive' ? part.chosen.reference : part.reference;
    const [, tagged] = tag.exec(tagOf(reference ?? '')) ?? [];
    const recorded = part.kind === 'program' ? ofProgram(part.program) : undefined;
    return recorded ?? (tagged === undefined ? undefined : `v${tagged}`);
  };
  const all = [
    ...parts.images
      .filter(({ name }) => images.includes(name))
      .map((part) => ({ label: `image ${part.name}`, version: ofImage(part) })),
    ...parts.binaries
      .filter(({ name, kind }) => kind === 'host' && binaries.includes(name))
      .map(({ name, program }) => ({ label: `binary ${name}`, version: ofProgram(program) })),
  ];
  return all.flatMap(({ label, version }) => (version === undefined ? [] : [{ label, version }]));
}

/** The reference of an image that is made from a program; undefined if it must be given. */
export function defaultReference(name: string, versions: Versions): string | undefined {
  const subject = subjects.find(({ images }) => images.includes(name));
  if (subject === undefined) return undefined;
  const version = versions[subject.key];
  const tag = subject.key === 'etcd' ? `${version.replace(/^v/, '')}-0` : version;
  return `registry.k8s.io/${name}:${tag}`;
}
