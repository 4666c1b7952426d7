import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

export type Entries = readonly (readonly [
  name: string,
  contents: string | Buffer | Partial<Header>,
])[];

export const hex = (contents: string | Buffer): string =>
  createHash('sha256').update(contents).digest('hex');

export async function tarOf(entries: Entries): Promise<Buffer> {
  const tar = pack();
  const mtime = new Date(0);
  for (const [name, contents] of entries) {
    if (typeof contents === 'string' || Buffer.isBuffer(contents)) {
      tar.entry({ name, mtime }, contents);
    } else tar.entry({ ...contents, name, mtime });
  }
  tar.finalize();
  return buffer(tar);
}

export interface ImageOptions {
  references?: readonly string[] | null;
  architecture?: string;
  os?: string;
  /** Contents of its layer. */
  layer?: Buffer;
}

/** A tar, like a layer. */
export const layerOf = (text: string): Promise<Buffer> => tarOf([['file', text]]);

export function configOf({ architecture = 'amd64', os = 'linux' }: ImageOptions, layer: Buffer) {
  return JSON.stringify({
    architecture,
    os,
    rootfs: { type: 'layers', diff_ids: [`sha256:${hex(layer)}`] },
  });
}

/** As written by `docker save` and `podman save`: layers before the files that describe them. */
export async function dockerArchive(images: readonly ImageOptions[]): Promise<Entries> {
  const entries: [string, string | Buffer][] = [];
  const manifest = [];
  for (const image of images) {
    const layer = image.layer ?? (await layerOf(JSON.stringify(image)));
    const config = configOf(image, layer);
    entries.push([`${hex(layer)}.tar`, layer], [`${hex(config)}.json`, config]);
    manifest.push({
      Config: `${hex(config)}.json`,
      RepoTags: image.references ?? null,
      Layers: [`${hex(layer)}.tar`],
    });
  }
  return [...entries, ['manifest.json', JSON.stringify(manifest)]];
}

export interface OciOptions extends ImageOptions {
  annotations?: Record<string, string>;
  platform?: { os: string; architecture: string };
}

/** As written by `skopeo copy`: compressed layers. With `nested`, the images are in a nested index. */
export async function ociArchive(
  images: readonly OciOptions[],
  nested?: Record<string, string>,
): Promise<Entries> {
  const blobs: [string, string | Buffer][] = [];
  const add = (contents: string | Buffer) => {
    blobs.push([`./blobs/sha256/${hex(contents)}`, contents]);
    return { digest: `sha256:${hex(contents)}`, size: contents.length };
  };
  const manifests = [];
  for (const image of images) {
    const layer = image.layer ?? (await layerOf(JSON.stringify(image)));
    const manifest = JSON.stringify({
      schemaVersion: 2,
      config: add(configOf(image, layer)),
      layers: [add(gzipSync(layer))],
    });
    const { annotations, platform } = image;
    manifests.push({ ...add(manifest), annotations, platform });
  }
  const index =
    nested === undefined
      ? { manifests }
      : { manifests: [{ ...add(JSON.stringify({ manifests })), annotations: nested }] };
  return [
    ['blobs/', { type: 'directory' }],
    ...blobs,
    ['oci-layout', '{"imageLayoutVersion":"1.0.0"}'],
    ['index.json', JSON.stringify({ schemaVersion: 2, ...index })],
  ];
}
