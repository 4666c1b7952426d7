import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../../../lib/host/command.ts';
import { sha256 } from '../../../lib/host/files.ts';
import type { Component } from '../component.ts';
import { imageManifest } from './image-manifest.ts';
import { IMAGE_NAMES, OPENSHIFT_ARCHIVES, openshiftImages } from './images.ts';
import { OPENSHIFT_VERSION } from './release.ts';

/** File with the digests of the images' manifests, by the images' names. */
export const IMAGE_DIGESTS = 'digests.json';
/** The namespace of the images in the registry. */
export const MIRROR_NAMESPACE = 'mirror/ocp';

const UNPACK_MS = 120_000;
const archiveSchema = z.tuple([z.object({ Config: z.string(), Layers: z.array(z.string()) })]);

/**
 * The release's images as the storage of a registry: the layout of distribution's file system driver
 * (registry/storage/paths.go), so that nothing need be pushed.
 */
export const openshiftRegistry: Component = {
  name: 'openshift-registry',
  version: OPENSHIFT_VERSION,
  recipe: [import.meta.filename, join(import.meta.dirname, 'image-manifest.ts')],
  needs: [openshiftImages],
  build: async (target, { folderOf, signal, report }) => {
    const digests: Record<string, string> = {};
    for (const name of IMAGE_NAMES) {
      report(name);
      const archive = join(folderOf(openshiftImages), OPENSHIFT_ARCHIVES, `${name}.tar`);
      digests[name] = await store(
        archive,
        join(target, '.work'),
        new Storage(target, name),
        signal,
      );
    }
    await writeFile(join(target, IMAGE_DIGESTS), JSON.stringify(digests));
  },
};

/** Stores the image of a docker archive; returns the digest of its manifest. */
async function store(
  archive: string,
  work: string,
  storage: Storage,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(work);
  await run('tar', ['-xf', archive, '-C', work], { signal, deadlineMs: UNPACK_MS });
  const [{ Config, Layers }] = archiveSchema.parse(
    JSON.parse(await readFile(join(work, 'manifest.json'), 'utf8')),
  );
  const add = async (name: string) => {
    // Named by their SHA-256 (lib/payload/image/write.ts).
    const digest = name.replace(/\..*$/, '');
    const { size } = await stat(join(work, name));
    await storage.addLayer(digest, (path) => rename(join(work, name), path));
    return { digest, bytes: size };
  };
  const config = await add(Config);
  const layers = [];
  for (const layer of Layers) layers.push(await add(layer));
  const { text, digest } = imageManifest(config, layers);
  await storage.addManifest(text);
  await rm(work, { recursive: true });
  return digest;
}

/** One repository of the registry. */
class Storage {
  readonly #root: string;
  readonly #repository: string;

  constructor(folder: string, name: string) {
    this.#root = join(folder, 'docker/registry/v2');
    this.#repository = join(this.#root, 'repositories', MIRROR_NAMESPACE, name);
  }

  /** `place` writes the blob to a path. */
  async addLayer(digest: string, place: (path: string) => Promise<void>): Promise<void> {
    await this.#blob(digest, place);
    await this.#link('_layers/sha256', digest);
  }

  async addManifest(text: string): Promise<void> {
    const digest = sha256(text);
    await this.#blob(digest, (path) => writeFile(path, text));
    await this.#link('_manifests/revisions/sha256', digest);
  }

  async #blob(digest: string, place: (path: string) => Promise<void>): Promise<void> {
    const folder = join(this.#root, 'blobs/sha256', digest.slice(0, 2), digest);
    await mkdir(folder, { recursive: true });
    await place(join(folder, 'data'));
  }

  async #link(kind: string, digest: string): Promise<void> {
    const folder = join(this.#repository, kind, digest);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'link'), `sha256:${digest}`);
  }
}
