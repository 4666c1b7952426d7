import { together } from '../../../lib/base/wait/together.ts';
import type { Architecture } from '../../../lib/host/architecture.ts';
import type { AcceptOptions } from '../accept.ts';
import type { PayloadRequest } from '../request.ts';
import { namingFullFolder, requireFree } from './disk-full.ts';
import {
  type FetchReporting,
  fetchDownload,
  type KnownDownload,
  statedChecksum,
  unpackPrograms,
} from './downloads.ts';
import {
  fetchImage,
  type KnownImage,
  knownImage,
  missingBytes,
  writeOciArchive,
} from './images.ts';
import type { PayloadLock } from './lock.ts';
import { FetchProgress } from './progress.ts';
import type { FetchRequest } from './request.ts';
import type { PartStore } from './store.ts';
import { programsIn, type UpstreamVersions } from './upstream.ts';
import { type WantedParts, wantedParts } from './wanted.ts';

/** Parts that are fetched at the same time. */
const CONCURRENCY = 4;

export interface FetchedParts {
  /** The parts as files. */
  readonly request: PayloadRequest;
  /** What was fetched. */
  readonly lock: PayloadLock;
}

/**
 * Fetches the parts of a payload into the store, as far as they are not there yet.
 * @throws Failure (usage) for whatever a person has to mend: versions, addresses, logins, locks, space; other kinds if
 *   it was tried again without success
 */
export async function fetchParts(
  request: FetchRequest,
  store: PartStore,
  options: AcceptOptions,
  reporting: FetchReporting,
): Promise<FetchedParts> {
  const { signal, report } = reporting;
  const wanted = await wantedParts(request, options, reporting);
  const { architecture, versions } = wanted;
  const access = { pullSecret: request.pullSecret, store, signal, report };
  report(`Asking for the parts of Kubernetes ${versions.kubernetes}, ${architecture}`);
  const { images, downloads } = await known(wanted, access);
  try {
    await store.make();
    await requireFree(store.folder, await bytesToFetch(images, store, signal));
    const sizes = await fetchAll({ images, downloads }, architecture, access);
    const lock = lockOf(wanted, { images, downloads }, sizes);
    return { request: await presented(versions, { images, downloads }, store, signal), lock };
  } catch (error) {
    signal.throwIfAborted();
    throw await namingFullFolder(error, store.folder);
  }
}

interface KnownParts {
  readonly images: readonly KnownImage[];
  readonly downloads: readonly KnownDownload[];
}

/** Asks registries and sites for the digests that are not locked. */
async function known(
  wanted: WantedParts,
  access: Parameters<typeof knownImage>[2],
): Promise<KnownParts> {
  const images = new Map<string, KnownImage>();
  const downloads = new Map<string, KnownDownload>();
  const { report } = access;
  const work = [
    ...wanted.images.map((image) => async (signal: AbortSignal) => {
      images.set(image.name, await knownImage(image, wanted.architecture, { ...access, signal }));
    }),
    ...wanted.downloads.map(({ checksums, ...download }) => async (signal: AbortSignal) => {
      const stated = () => statedChecksum(checksums, download.url, { signal, report });
      downloads.set(download.name, { ...download, sha256: download.sha256 ?? (await stated()) });
    }),
  ];
  await together(work, { signal: access.signal, concurrency: CONCURRENCY }, (ask, signal) =>
    ask(signal),
  );
  return {
    images: wanted.images.flatMap(({ name }) => images.get(name) ?? []),
    downloads: wanted.downloads.flatMap(({ name }) => downloads.get(name) ?? []),
  };
}

async function bytesToFetch(
  images: readonly KnownImage[],
  store: PartStore,
  signal: AbortSignal,
): Promise<number> {
  let bytes = 0;
  for (const image of images) bytes += await missingBytes(image, store, signal);
  return bytes;
}

/** Returns the sizes of the downloads by name. */
async function fetchAll(
  { images, downloads }: KnownParts,
  architecture: Architecture,
  access: Parameters<typeof fetchImage>[2],
): Promise<ReadonlyMap<string, number>> {
  const { store, report } = access;
  const sizes = new Map<string, number>();
  const progress = new FetchProgress(images.length + downloads.length, report);
  const stop = progress.start();
  const work = [
    ...downloads.map((download) => ({
      name: download.name,
      run: async (signal: AbortSignal) => {
        const size = await fetchDownload(download, store, { signal, report });
        sizes.set(download.name, size);
        return size;
      },
    })),
    ...images.map((image) => ({
      name: image.name,
      run: async (signal: AbortSignal) => {
        await fetchImage(image, architecture, { ...access, signal });
        return image.size;
      },
    })),
  ];
  try {
    await together(
      work,
      { signal: access.signal, concurrency: CONCURRENCY },
      ({ name, run }, signal) => progress.of(name, () => run(signal)),
    );
  } finally {
    stop();
  }
  return sizes;
}

function lockOf(
  { architecture, versions }: WantedParts,
  { images, downloads }: KnownParts,
  sizes: ReadonlyMap<string, number>,
): PayloadLock {
  return {
    apiVersion: 'sno-agents/v1',
    kind: 'PayloadLock',
    architecture,
    versions,
    images: images.map(({ name, reference, digest, size }) => ({ name, reference, digest, size })),
    downloads: downloads.map(({ name, url, sha256 }) => ({
      ...{ name, url, size: sizes.get(name) ?? 0, sha256 },
    })),
  };
}

/** The parts as `--image`, `--binary` and `--cni` would name them. */
async function presented(
  versions: UpstreamVersions,
  { images, downloads }: KnownParts,
  store: PartStore,
  signal: AbortSignal,
): Promise<PayloadRequest> {
  const request: PayloadRequest = { images: [], binaries: [], versions };
  for (const image of images) {
    const { name, reference } = image;
    request.images.push({ name, reference, path: await writeOciArchive(image, store, signal) });
  }
  for (const download of downloads) {
    const { name, sha256 } = download;
    const programs = programsIn(name);
    const kind = name === 'cni-plugins' ? 'cni' : 'host';
    const paths =
      programs === undefined
        ? new Map([[name, store.pathOf(sha256)]])
        : await unpackPrograms(download, programs, store, signal);
    for (const [program, path] of paths) request.binaries.push({ name: program, kind, path });
  }
  return request;
}
