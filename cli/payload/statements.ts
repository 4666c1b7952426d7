import type { Program } from '../../lib/payload/elf/elf.ts';
import { tagOf } from '../../lib/payload/image/reference.ts';
import type { PayloadDescription } from '../../lib/payload/payload.ts';

export type VersionKey = keyof PayloadDescription['versions'];

/** What a part of a payload says of its version. */
export interface Statement {
  readonly key: VersionKey;
  /** Of the part, such as `binary kubelet`. */
  readonly label: string;
  /** Of a release or pre-release: v1.37.2, v1.38.0-rc.1. */
  readonly version: string;
}

interface Subject {
  readonly key: VersionKey;
  readonly images: readonly string[];
  /** Programs on the host that must have the same version. */
  readonly binaries: readonly string[];
  readonly module: RegExp;
}

const subjects: readonly Subject[] = [
  {
    key: 'kubernetes',
    images: ['kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kube-scheduler'],
    binaries: ['kubelet'],
    module: /^k8s\.io\/kubernetes$/,
  },
  {
    key: 'etcd',
    images: ['etcd'],
    binaries: ['etcdutl'],
    module: /^go\.etcd\.io\/etcd\//,
  },
];

/** Of which version the image of that name is; undefined if it is of neither. */
export const subjectOfImage = (name: string): VersionKey | undefined =>
  subjects.find(({ images }) => images.includes(name))?.key;

/**
 * The release in a version, without what distributions append to it: `v3.6.8` of 3.6.8-0, `v1.34.4` of
 * v1.34.4+k3s1. Undefined for anything else.
 */
export function releaseIn(text: string): string | undefined {
  const [, release] = /^v?(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)(?![0-9.])/.exec(text) ?? [];
  return release === undefined ? undefined : `v${release}`;
}

/** What Go records of a commit that is no release (go.dev/ref/mod, pseudo-versions). */
const PSEUDO_VERSION = /[.-]\d{14}-[0-9a-f]{12}(\+|$)/;

/** Of a program: what Go's linker recorded. Programs that are built in their own source tree record no release. */
export function programStatement(
  part: { readonly kind: 'image' | 'binary'; readonly name: string },
  { module }: Pick<Program, 'module'>,
): Statement[] {
  const { kind, name } = part;
  const subject = subjects.find(({ images, binaries }) =>
    (kind === 'image' ? images : binaries).includes(name),
  );
  if (subject === undefined || module === undefined || !subject.module.test(module.path)) return [];
  if (PSEUDO_VERSION.test(module.version)) return [];
  return statement(subject.key, `${kind} ${name}`, module.version);
}

/** Of an image: its tag. */
export function tagStatement(name: string, reference: string): Statement[] {
  const key = subjectOfImage(name);
  return key === undefined ? [] : statement(key, `the tag of image ${name}`, tagOf(reference));
}

function statement(key: VersionKey, label: string, text: string): Statement[] {
  const version = releaseIn(text);
  return version === undefined ? [] : [{ key, label, version }];
}
