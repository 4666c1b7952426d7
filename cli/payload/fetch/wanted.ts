import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Architecture } from '../../../lib/host/architecture.ts';
import { releasePattern } from '../../../lib/payload/payload.ts';
import { refuse } from '../../create/new-folder.ts';
import { type AcceptOptions, acceptedVersions } from '../accept.ts';
import { type FetchReporting, fetchText, type KnownDownload } from './downloads.ts';
import type { WantedImage } from './images.ts';
import { lockFaults, readLock } from './lock.ts';
import { mirroredImage, mirroredUrl } from './mirrors.ts';
import type { FetchRequest } from './request.ts';
import {
  companionsOf,
  newestVersionUrl,
  type UpstreamVersions,
  upstreamParts,
} from './upstream.ts';

/** The parts of a payload, and where they are fetched. */
export interface WantedParts {
  readonly architecture: Architecture;
  readonly versions: UpstreamVersions;
  readonly images: readonly WantedImage[];
  readonly downloads: readonly (Omit<KnownDownload, 'sha256'> & {
    readonly sha256: string | undefined;
    readonly checksums: string;
  })[];
}

/** From the lock, or from the table of addresses. @throws Failure (usage) */
export async function wantedParts(
  request: FetchRequest,
  options: AcceptOptions,
  reporting: FetchReporting,
): Promise<WantedParts> {
  const { registries, sites, without } = request;
  const lock = request.lock === undefined ? undefined : await readLock(request.lock);
  const versions = lock?.versions ?? (await askedVersions(request, reporting));
  const architecture = request.architecture ?? lock?.architecture ?? 'amd64';
  acceptedVersions('the payload', versions, 'run', options);
  const upstream = upstreamParts(versions, architecture);
  const images = upstream.images.filter(({ name }) => !without.includes(name));
  if (lock !== undefined) {
    const parts = [...images, ...upstream.downloads].map(({ name }) => name);
    refuse(lockFaults(request.lock ?? '', lock, { ...askedOf(request), parts }));
  }
  return {
    architecture,
    versions,
    images: (lock?.images ?? images.map((image) => ({ ...image, digest: undefined }))).map(
      ({ name, reference, digest }) => ({
        ...{ name, reference, digest },
        mirrored: mirroredImage(reference, registries),
      }),
    ),
    downloads: (
      lock?.downloads.map((each) => ({ ...each, checksums: '' })) ??
      upstream.downloads.map((each) => ({ ...each, size: undefined, sha256: undefined }))
    ).map(({ name, url, checksums, size, sha256 }) => ({
      ...{ name, url, size, sha256 },
      from: mirroredUrl(url, sites),
      checksums: mirroredUrl(checksums, sites),
    })),
  };
}

function askedOf({ kubernetes, etcd, architecture }: FetchRequest) {
  const version = kubernetes?.kind === 'version' ? kubernetes.version : kubernetes?.minor;
  return { kubernetes: version, etcd, architecture };
}

async function askedVersions(
  { kubernetes: asked, etcd, sites }: FetchRequest,
  reporting: FetchReporting,
): Promise<UpstreamVersions> {
  if (asked === undefined) throw new Failure('bug', 'neither a version nor a lock was given');
  const kubernetes =
    asked.kind === 'version'
      ? asked.version
      : await newestVersion(mirroredUrl(newestVersionUrl(asked.name), sites), asked, reporting);
  return { kubernetes, etcd: etcd ?? `v${companionsOf(kubernetes).etcd}` };
}

async function newestVersion(
  url: string,
  { minor }: { readonly minor: string | undefined },
  reporting: FetchReporting,
): Promise<string> {
  const found = (await fetchText(url, reporting)).trim();
  if (releasePattern.test(found) && found.startsWith(`v${minor ?? '1'}.`)) return found;
  throw new Failure('usage', `${url} does not name a version; nothing was written`, {
    expected: `v${minor ?? '1.37'}.2 or the like`,
    found: JSON.stringify(found.slice(0, 80)),
    fix: 'Write the version itself, such as --kubernetes v1.37.2, or correct the mirror.',
  });
}
