import { isIPv4, isIPv6 } from 'node:net';
import type { Problem } from '../../base/errors/problem.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { isLookupName } from './names.ts';

type ImageMirror = Cluster['imageMirrors'][number];

const HOST = /^(?:([^:[\]]+)|\[([0-9A-Fa-f:.]+)\])(?::([1-9]\d{0,4}))?$/;
const PATH_PART = /^[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*$/;

/**
 * Why a text does not name a registry or one of its repositories
 * (openshift/installer, validateNamedRepository): host, port and path, no tag and
 * no digest.
 */
export function repositoryProblem(text: string): Problem | undefined {
  const expected = 'a registry, with or without the path of a repository';
  const [host = '', ...path] = text.split('/');
  if (/^https?:\/\//.test(text)) return { expected, fix: 'Omit the scheme.' };
  if (text.includes('@') || path.at(-1)?.includes(':')) {
    return { expected, fix: 'Omit the tag or digest.' };
  }
  const fix = 'Write it as registry.example.com:5000/ocp4/release.';
  // Without a dot or a port, the first part would be part of a path below docker.io.
  const canonical = path.length === 0 || /[.:]/.test(host) || host === 'localhost';
  return isHost(host) && canonical && path.every((part) => PATH_PART.test(part))
    ? undefined
    : { expected, fix };
}

/** The same of a source, which is compared with the names of images: each has a registry with a dot or a port, or localhost. */
export function sourceProblem(text: string): Problem | undefined {
  const problem = repositoryProblem(text);
  if (problem !== undefined || /[.:/]/.test(text) || text === 'localhost') return problem;
  return {
    expected:
      'a registry with a dot or a port in its name, with or without the path of a repository',
    fix: `Write the registry in front of it, such as docker.io/library/${text}.`,
  };
}

function isHost(text: string): boolean {
  const [whole, name, bracketed = '', port = '1'] = HOST.exec(text) ?? [];
  if (whole === undefined || Number(port) > 65_535) return false;
  return name === undefined ? isIPv6(bracketed) : isIPv4(name) || isLookupName(name);
}

/**
 * Whether a text stands for all hosts of a domain (openshift/api, ImageDigestMirrors.source): only OpenShift's
 * container runtime knows that.
 */
export const isHostPattern = (text: string): boolean =>
  /^\*(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$/.test(text);

/**
 * Each source once among the mirrors for digests, and once among those for tags, in the order of the file, with the
 * mirrors of all its entries. Only the table of the longest source counts (containers-registries.conf(5)): a source
 * with mirrors of one kind, below one with mirrors of the other, has these too.
 */
export function mergeMirrors(mirrors: readonly ImageMirror[]): ImageMirror[] {
  const digest = merged(mirrors.filter(({ digestOnly }) => digestOnly));
  const tag = merged(mirrors.filter(({ digestOnly }) => !digestOnly));
  return [...digest, ...inherited(digest, tag), ...tag, ...inherited(tag, digest)];
}

function merged(ofKind: readonly ImageMirror[]): ImageMirror[] {
  const bySource = new Map<string, ImageMirror>();
  for (const mirror of ofKind) {
    const before = bySource.get(mirror.source);
    bySource.set(mirror.source, {
      ...mirror,
      mirrors: [...new Set([...(before?.mirrors ?? []), ...mirror.mirrors])],
      neverContactSource: mirror.neverContactSource || before?.neverContactSource === true,
    });
  }
  return [...bySource.values()];
}

/** What sources of the other kind have of this one, whose mirrors have the same paths below them. */
const inherited = (ofKind: readonly ImageMirror[], others: readonly ImageMirror[]): ImageMirror[] =>
  others.flatMap(({ source }) => {
    if (ofKind.some((each) => each.source === source)) return [];
    const [above] = ofKind
      .filter((each) => source.startsWith(`${each.source}/`))
      .toSorted((a, b) => b.source.length - a.source.length);
    if (above === undefined) return [];
    const path = source.slice(above.source.length);
    return [{ ...above, source, mirrors: above.mirrors.map((mirror) => `${mirror}${path}`) }];
  });
