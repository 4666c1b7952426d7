import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import { sha256OfFile } from '../lib/host/files.ts';

export interface ImageFile {
  /** Path in the image, without a leading slash. */
  readonly path: string;
  /** File on this machine. */
  readonly source: string;
}

export interface Image {
  readonly reference: string;
  readonly files: readonly ImageFile[];
  readonly entrypoint: readonly string[];
}

/** Fixed, so that the same binaries always give the same archive. */
const epoch = new Date(0);
const directories = ['etc', 'tmp', 'usr', 'usr/local', 'usr/local/bin'];
const passwd = 'root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n';

/**
 * Writes a docker archive (as of `docker save`) with one layer: the files, /tmp and an
 * /etc/passwd. `ctr images import` takes it under its reference.
 */
export async function writeImageArchive(
  archive: string,
  image: Image,
  signal: AbortSignal,
): Promise<void> {
  const work = await mkdtemp(join(dirname(archive), '.layer-'));
  try {
    const layer = join(work, 'layer.tar');
    await writeTar(layer, (tar) => packLayer(tar, image.files), signal);
    const diffId = await sha256OfFile(layer, signal);
    const config = JSON.stringify(imageConfig(image, diffId));
    const configName = `${createHash('sha256').update(config).digest('hex')}.json`;
    const manifest = [{ Config: configName, RepoTags: [image.reference], Layers: ['layer.tar'] }];
    const add = async (tar: Pack) => {
      await addText(tar, configName, config);
      await addFile(tar, 'layer.tar', layer, 0o644);
      await addText(tar, 'manifest.json', JSON.stringify(manifest));
    };
    await writeTar(archive, add, signal);
  } finally {
    await rm(work, { recursive: true });
  }
}

function imageConfig(image: Image, diffId: string) {
  return {
    architecture: 'amd64',
    os: 'linux',
    created: epoch.toISOString(),
    config: { Entrypoint: image.entrypoint, Env: ['PATH=/usr/local/bin:/bin'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
    history: [{ created: epoch.toISOString(), created_by: 'one layer' }],
  };
}

async function packLayer(tar: Pack, files: readonly ImageFile[]): Promise<void> {
  for (const name of directories) {
    tar.entry({ name, type: 'directory', mode: name === 'tmp' ? 0o1777 : 0o755, mtime: epoch });
  }
  await addText(tar, 'etc/passwd', passwd);
  for (const { path, source } of files) await addFile(tar, path, source, 0o755);
}

async function writeTar(
  file: string,
  add: (tar: Pack) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const tar = pack();
  const written = pipeline(tar, createWriteStream(file), { signal });
  await Promise.all([add(tar).then(() => tar.finalize()), written]);
}

async function addText(tar: Pack, name: string, text: string): Promise<void> {
  tar.entry({ name, mode: 0o644, mtime: epoch }, text);
}

async function addFile(tar: Pack, name: string, source: string, mode: number): Promise<void> {
  const { size } = await stat(source);
  const entry = tar.entry({ name, mode, size, mtime: epoch });
  await pipeline(createReadStream(source, { highWaterMark: 1 << 20 }), entry);
}
