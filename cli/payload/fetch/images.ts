import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { addFile, addText, tarOf } from '../../../lib/base/archive/tar-writer.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import type { Architecture } from '../../../lib/host/architecture.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { again } from './again.ts';
import { type ImageBlobs, readManifest, repositoryOf } from './manifest.ts';
import { copyLayers, inspectConfig, inspectManifest, type RegistryAccess } from './skopeo.ts';
import type { PartStore } from './store.ts';

/** An image of a registry, whose contents are known. */
export interface KnownImage {
  readonly name: string;
  /** The original reference. */
  readonly reference: string;
  /** REPOSITORY@DIGEST where it is fetched. */
  readonly from: string;
  readonly manifest: Buffer;
  /** Of the manifest, with `sha256:`. */
  readonly digest: string;
  readonly blobs: ImageBlobs;
  /** Bytes of its configuration and its layers, as they are transferred. */
  readonly size: number;
}

export interface WantedImage {
  readonly name: string;
  readonly reference: string;
  /** Where it is fetched instead of the reference. */
  readonly mirrored: string;
  /** Of the image for the architecture, if nothing else is accepted. */
  readonly digest: string | undefined;
}

interface Fetching extends RegistryAccess {
  readonly store: PartStore;
  report(line: string): void;
}

const hexOf = (digest: string) => digest.slice('sha256:'.length);

/** Asks the registry what a reference is, unless a locked one is known from an earlier run. @throws Failure */
export async function knownImage(
  wanted: WantedImage,
  architecture: Architecture,
  { store, ...access }: Fetching,
): Promise<KnownImage> {
  const { name, reference, mirrored } = wanted;
  const inspect = (image: string) => repeated(() => inspectManifest(image, access), access);
  const at = (digest: string) => `${repositoryOf(mirrored)}@${digest}`;
  let digest = wanted.digest;
  let manifest =
    digest === undefined
      ? await inspect(mirrored)
      : ((await store.read(hexOf(digest), access.signal)) ?? (await inspect(at(digest))));
  let document = readManifest(manifest.toString(), mirrored, architecture);
  if (document.kind === 'list') {
    digest = document.digest;
    manifest = await inspect(at(digest));
    document = readManifest(manifest.toString(), at(digest), architecture);
  }
  if (document.kind === 'list') throw notAnImage(at(document.digest));
  const found = `sha256:${sha256(manifest)}`;
  const from = at(digest ?? found);
  if (digest !== undefined && digest !== found) throw another(from, digest, found);
  const { blobs } = document;
  const size = blobsOf(blobs).reduce((sum, blob) => sum + blob.size, 0);
  return { name, reference, from, manifest, digest: found, blobs, size };
}

const repeated = <T>(
  work: () => Promise<T>,
  { signal, report }: Pick<Fetching, 'signal' | 'report'>,
) =>
  again(work, {
    signal,
    bytes: async () => 0,
    report: ({ message }) => report(`Trying again: ${message}`),
  });

/** Each once: a layer, such as an empty one, can occur more than once. */
const blobsOf = ({ config, layers }: ImageBlobs) => [
  ...new Map([config, ...layers].map((blob) => [blob.digest, blob])).values(),
];

/** Bytes of an image that are not in the store yet. */
export async function missingBytes(
  { blobs }: KnownImage,
  store: PartStore,
  signal: AbortSignal,
): Promise<number> {
  let missing = 0;
  for (const { digest, size } of blobsOf(blobs)) {
    if (!(await store.has(hexOf(digest), signal))) missing += size;
  }
  return missing;
}

/** Fetches what the store lacks of an image, and verifies it. @throws Failure */
export async function fetchImage(
  image: KnownImage,
  architecture: Architecture,
  fetching: Fetching,
): Promise<void> {
  const { store, signal, report } = fetching;
  await store.put(hexOf(image.digest), image.manifest);
  await again(() => fetchBlobs(image, fetching), {
    signal,
    bytes: async () => image.size - (await missingBytes(image, store, signal)),
    report: ({ message }) => report(`Trying again: ${message}`),
  });
  const config = await store.read(hexOf(image.blobs.config.digest), signal);
  const document = parseJson(config?.toString());
  const found =
    typeof document === 'object' && document !== null && 'architecture' in document
      ? `${document.architecture}`
      : 'none';
  if (found === architecture) return;
  throw new Failure('usage', `${image.from} is for another architecture; nothing was written`, {
    expected: architecture,
    found,
    fix: 'Use another --arch, or a mirror that has all architectures.',
  });
}

async function fetchBlobs({ name, from, blobs }: KnownImage, fetching: Fetching): Promise<void> {
  const { store, signal } = fetching;
  const { config, layers } = blobs;
  if (!(await store.has(hexOf(config.digest), signal))) {
    const contents = await inspectConfig(from, fetching);
    const found = `sha256:${sha256(contents)}`;
    if (found !== config.digest) throw another(from, config.digest, found);
    await store.put(hexOf(found), contents);
  }
  const lacks = async () => {
    for (const { digest } of layers) if (!(await store.has(hexOf(digest), signal))) return digest;
    return undefined;
  };
  if ((await lacks()) === undefined) return;
  const layout = store.layoutOf(name);
  // What a killed run began would be left there.
  await rm(layout, { recursive: true, force: true });
  await copyLayers(from, { layout, blobs: store.blobs }, fetching);
  const missing = await lacks();
  if (missing === undefined) return;
  throw new Failure('retry', `${from} came without its layer ${missing}`);
}

const notAnImage = (found: string) =>
  new Failure('usage', `${found} is a list in a list; nothing was written`, {
    expected: 'an image',
    fix: 'Check what the registry serves under that reference.',
  });

const another = (from: string, expected: string, found: string) =>
  new Failure('usage', `${from} is another image; nothing was written`, {
    code: 'payload-mismatch',
    expected,
    found,
    fix: 'Use another mirror (--registry), or repair this one.',
  });

/** Writes an OCI archive of an image that the store has, under its original reference. Returns its path. */
export async function writeOciArchive(
  { name, reference, digest, manifest, blobs }: KnownImage,
  store: PartStore,
  signal: AbortSignal,
): Promise<string> {
  const path = store.readyOf(`${name}.tar`);
  const annotations = { 'org.opencontainers.image.ref.name': reference };
  const index = { schemaVersion: 2, manifests: [{ digest, size: manifest.length, annotations }] };
  const tar = tarOf(async (pack) => {
    addText(pack, 'oci-layout', '{"imageLayoutVersion":"1.0.0"}');
    addText(pack, 'index.json', JSON.stringify(index));
    addText(pack, entryOf(digest), manifest);
    for (const blob of blobsOf(blobs)) {
      await addFile(pack, entryOf(blob.digest), store.pathOf(hexOf(blob.digest)), 0o644, signal);
    }
  });
  await pipeline(tar, createWriteStream(path), { signal });
  return path;
}

const entryOf = (digest: string) => `blobs/sha256/${hexOf(digest)}`;
