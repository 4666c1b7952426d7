import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import { addFile, addText, epoch, quiet, tarOf } from '../../base/archive/tar-writer.ts';
import type { Architecture } from '../../host/architecture.ts';
import { sha256OfFiles } from '../../host/digests.ts';
import { sha256 } from '../../host/files.ts';

export interface WholeImage {
  reference: string;
  config: Uint8Array;
  layers: readonly LayerFile[];
}

export interface LayerFile {
  /** SHA-256 (hex) of the file. */
  diffId: string;
  /** An uncompressed tar. */
  path: string;
}

/**
 * Writes a docker archive with one image; the same image gives the same bytes. The
 * image's description comes first, so that a reader need not skip the layers.
 * Returns the image's id.
 */
export async function writeImageArchive(
  archive: string,
  { reference, config, layers }: WholeImage,
  signal: AbortSignal,
): Promise<string> {
  const digest = sha256(config);
  const nameOf = ({ diffId }: LayerFile) => `${diffId}.tar`;
  const manifest = [
    { Config: `${digest}.json`, RepoTags: [reference], Layers: layers.map(nameOf) },
  ];
  // A layer, such as an empty one, can occur more than once.
  const files = new Map(layers.map((layer) => [nameOf(layer), layer.path]));
  await writeTar(
    archive,
    async (tar) => {
      addText(tar, 'manifest.json', JSON.stringify(manifest));
      addText(tar, `${digest}.json`, config);
      for (const [name, path] of files) await addFile(tar, name, path, 0o644, signal);
    },
    signal,
  );
  return `sha256:${digest}`;
}

export interface ProgramImage {
  reference: string;
  architecture: Architecture;
  files: readonly ImageFile[];
  entrypoint: readonly string[];
}

export interface ImageFile {
  /** Path in the image, without a leading slash. */
  path: string;
  /** File on this machine. */
  source: string;
}

const directories = ['etc', 'tmp', 'usr', 'usr/local', 'usr/local/bin'];
const passwd = 'root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n';

/**
 * Writes a docker archive of an image with one layer: static programs, /tmp and an
 * /etc/passwd. Returns the image's id.
 */
export async function writeProgramImage(
  archive: string,
  image: ProgramImage,
  signal: AbortSignal,
): Promise<string> {
  const work = await mkdtemp(join(dirname(archive), '.layer-'));
  try {
    const path = join(work, 'layer.tar');
    await writeTar(path, (tar) => packLayer(tar, image.files, signal), signal);
    const diffId = (await sha256OfFiles([path], signal)).get(path) ?? '';
    const config = Buffer.from(JSON.stringify(programConfig(image, diffId)));
    const whole = { reference: image.reference, config, layers: [{ diffId, path }] };
    return await writeImageArchive(archive, whole, signal);
  } finally {
    await rm(work, { recursive: true });
  }
}

function programConfig({ architecture, entrypoint }: ProgramImage, diffId: string) {
  return {
    architecture,
    os: 'linux',
    created: epoch.toISOString(),
    config: { Entrypoint: entrypoint, Env: ['PATH=/usr/local/bin:/bin'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
    history: [{ created: epoch.toISOString(), created_by: 'one layer' }],
  };
}

async function packLayer(
  tar: Pack,
  files: readonly ImageFile[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of directories) {
    const mode = name === 'tmp' ? 0o1777 : 0o755;
    quiet(tar.entry({ name, type: 'directory', mode, mtime: epoch }));
  }
  addText(tar, 'etc/passwd', passwd);
  for (const { path, source } of files) await addFile(tar, path, source, 0o755, signal);
}

async function writeTar(
  file: string,
  add: (tar: Pack) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await pipeline(tarOf(add), createWriteStream(file), { signal });
}
