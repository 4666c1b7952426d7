import type { PayloadDescription } from '../../lib/payload/payload.ts';
import type { PayloadParts } from './parts.ts';
import type { PayloadRequest } from './request.ts';
import {
  programStatement,
  releaseIn,
  type Statement,
  subjectOfImage,
  tagStatement,
  type VersionKey,
} from './statements.ts';

type Versions = PayloadDescription['versions'];

const OPTIONS: Readonly<Record<VersionKey, string>> = {
  kubernetes: '--kubernetes-version',
  etcd: '--etcd-version',
};

/**
 * The versions of Kubernetes and etcd: what the programs and the images' tags state, which must agree. What is given
 * completes that, and may not contradict it. All faults are added to `faults`, which the caller reports.
 */
export function versionsOf(
  given: PayloadRequest['versions'],
  parts: Pick<PayloadParts, 'images' | 'binaries'>,
  faults: string[],
): Versions {
  const stated = statementsOf(parts);
  return {
    kubernetes: versionOf('kubernetes', given.kubernetes, stated, faults),
    etcd: versionOf('etcd', given.etcd, stated, faults),
  };
}

function versionOf(
  key: VersionKey,
  given: string | undefined,
  all: readonly Statement[],
  faults: string[],
): string {
  const stated = all.filter((statement) => statement.key === key);
  const [version, another] = new Set(stated.map(({ version }) => version));
  const list = stated.map(({ label, version }) => `${label} is ${version}`).join(', ');
  if (another !== undefined) {
    faults.push(
      `the versions of ${key} differ: ${list}. Use parts of one version; --reference gives an image another tag`,
    );
  } else if (version === undefined && given === undefined) {
    faults.push(`no program and no tag states the version of ${key}. Set it with ${OPTIONS[key]}`);
  } else if (version !== undefined && given !== undefined && releaseIn(given) !== version) {
    faults.push(
      `${OPTIONS[key]} ${given}: ${list}. Leave the option out, or use parts of that version`,
    );
  }
  return given ?? version ?? '';
}

function statementsOf({ images, binaries }: Pick<PayloadParts, 'images' | 'binaries'>) {
  return [
    ...images.flatMap((part) => {
      const { name } = part;
      if (part.kind === 'archive') return tagStatement(name, part.chosen.reference);
      const ofTag = part.reference === undefined ? [] : tagStatement(name, part.reference);
      return [...programStatement({ kind: 'image', name }, part.program), ...ofTag];
    }),
    ...binaries.flatMap(({ name, kind, program }) =>
      kind === 'host' ? programStatement({ kind: 'binary', name }, program) : [],
    ),
  ];
}

/** The reference of an image that is made from a program; undefined if it must be given. */
export function defaultReference(name: string, versions: Versions): string | undefined {
  const key = subjectOfImage(name);
  if (key === undefined) return undefined;
  const version = versions[key];
  const tag = key === 'etcd' ? `${version.replace(/^v/, '')}-0` : version;
  return `registry.k8s.io/${name}:${tag}`;
}
