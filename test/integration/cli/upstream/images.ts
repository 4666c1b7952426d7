import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { execa } from 'execa';
import { configOf, hex, tarOf } from '../../../unit/payload/image/archives.ts';

const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

export interface PushedImage {
  /** Of the manifest for amd64. */
  readonly digest: string;
  /** Of the configuration for amd64. */
  readonly id: string;
}

interface PushOptions {
  /** `docker`: as a list and manifests of docker, schema 2. */
  readonly format?: 'oci' | 'docker';
  readonly architectures?: readonly string[];
  /** Does not compress. */
  readonly layerBytes?: number;
  /** Files of the layer, with a random one. */
  readonly files?: Readonly<Record<string, Buffer>>;
}

/** Pushes an image for several architectures to a registry. Returns what the registry has for amd64. */
export async function push(
  reference: string,
  authFile: string,
  authority: string,
  {
    format = 'oci',
    architectures = ['amd64', 'arm64'],
    layerBytes = 2000,
    files = {},
  }: PushOptions = {},
): Promise<PushedImage> {
  const layout = mkdtempSync(join(tmpdir(), 'push-'));
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const add = (mediaType: string, contents: string | Buffer) => {
    writeFileSync(join(blobs, hex(contents)), contents);
    return { mediaType, digest: `sha256:${hex(contents)}`, size: contents.length };
  };
  const manifests = [];
  for (const architecture of architectures) {
    const layer = await tarOf([['random', randomBytes(layerBytes)], ...Object.entries(files)]);
    const config = add(CONFIG, configOf({ architecture }, layer));
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config,
      layers: [add(LAYER, gzipSync(layer))],
    };
    const platform = { architecture, os: 'linux' };
    manifests.push({ ...add(MANIFEST, JSON.stringify(manifest)), platform });
  }
  const index = JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests });
  writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  const top = { schemaVersion: 2, manifests: [add(INDEX, index)] };
  writeFileSync(join(layout, 'index.json'), JSON.stringify(top));
  const within = { env: { SSL_CERT_FILE: authority }, timeout: 60_000 };
  const formatArgs = format === 'docker' ? ['--format', 'v2s2'] : [];
  const to = `docker://${reference}`;
  await execa(
    'skopeo',
    ['copy', '-q', '--all', ...formatArgs, '--authfile', authFile, `oci:${layout}`, to],
    within,
  );
  const inspect = async (...args: string[]) =>
    (
      await execa('skopeo', ['inspect', '--raw', '--authfile', authFile, ...args], {
        ...within,
        encoding: 'buffer',
        stripFinalNewline: false,
      })
    ).stdout;
  const list: unknown = JSON.parse(Buffer.from(await inspect(to)).toString());
  rmSync(layout, { recursive: true });
  const digest = /"digest":"(sha256:[0-9a-f]{64})","platform":\{"architecture":"amd64"/.exec(
    JSON.stringify(ordered(list)),
  )?.[1];
  if (digest === undefined) throw new Error(`no image for amd64 in ${JSON.stringify(list)}`);
  const at = `docker://${reference.replace(/:[^/:]*$/, '')}@${digest}`;
  return { digest, id: `sha256:${hex(Buffer.from(await inspect('--config', at)))}` };
}

/** Lists with digest and platform of each entry side by side. */
function ordered(list: unknown): unknown {
  if (typeof list !== 'object' || list === null || !('manifests' in list)) return list;
  const { manifests } = list;
  return Array.isArray(manifests)
    ? manifests.map(({ digest, platform: { architecture } }) => ({
        digest,
        platform: { architecture },
      }))
    : list;
}
