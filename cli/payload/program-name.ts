import { Failure } from '../../lib/base/errors/failure.ts';
import type { Program } from '../../lib/payload/elf/elf.ts';
import { requiredBinaries, requiredImages } from '../../lib/payload/required.ts';

/** Main packages of programs that a payload usually has; the group is the program's name. */
const KNOWN_PACKAGES = [
  /^k8s\.io\/kubernetes\/cmd\/([^/]+)$/,
  /^go\.etcd\.io\/etcd\/(etcdutl|etcdctl)\/v\d+$/,
  /^sigs\.k8s\.io\/cri-tools\/cmd\/([^/]+)$/,
  /^github\.com\/kubernetes-sigs\/cri-tools\/cmd\/([^/]+)$/,
  /^github\.com\/coredns\/(coredns)$/,
  /^github\.com\/rancher\/(local-path-provisioner)$/,
  /^github\.com\/flannel-io\/(flannel)$/,
  /^github\.com\/containernetworking\/plugins\/plugins\/[^/]+\/([^/]+)$/,
];
const ETCD_PACKAGE = /^go\.etcd\.io\/etcd\/server\/v\d+$/;

/** Written in C, or in another language, depending on the distribution. */
const NOT_GO = ['pause'];
const goPrograms: readonly string[] = [...requiredBinaries, ...requiredImages].filter(
  (name) => !NOT_GO.includes(name),
);

/** The name of a program by its main package; undefined if it is not known. */
function knownName(mainPackage: string): string | undefined {
  if (ETCD_PACKAGE.test(mainPackage)) return 'etcd';
  for (const pattern of KNOWN_PACKAGES) {
    const [, name] = pattern.exec(mainPackage) ?? [];
    if (name !== undefined) return name;
  }
  return undefined;
}

/**
 * Verifies, by the main package that Go recorded, that a program is the one it is
 * given as. Without a record, the given name is trusted. @throws Failure (usage)
 */
export function expectProgram(name: string, { mainPackage }: Program): void {
  if (mainPackage === undefined) return;
  const found = knownName(mainPackage);
  const isAnother = found === undefined ? goPrograms.includes(name) : found !== name;
  if (!isAnother) return;
  throw new Failure('usage', 'another program', {
    expected: name,
    found: `${found ?? 'a program'} (Go main package ${mainPackage})`,
  });
}
