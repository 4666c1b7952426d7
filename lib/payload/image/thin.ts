import { buffer } from 'node:stream/consumers';
import { addText, tarOf } from '../../base/archive/tar-writer.ts';
import { sha256 } from '../../host/files.ts';

/** An image without its layers. */
export interface ThinImage {
  readonly reference: string;
  /** The image's configuration, byte for byte. */
  readonly config: Uint8Array;
  /** From the lowest: SHA-256 (hex) and bytes of the uncompressed tar. */
  readonly layers: readonly { readonly diffId: string; readonly size: number }[];
}

const OCI = 'application/vnd.oci.image';
const BLOBS = 'blobs/sha256';

/** A thin archive, and the SHA-256 (hex) of the image's manifest in it. */
export interface ThinArchive {
  readonly archive: Buffer;
  readonly manifest: string;
}

/**
 * An OCI layout in a tar, which names the layers of an image and does not have them (OCI image specification,
 * image-layout.md and manifest.md).
 */
export async function thinArchive(image: ThinImage): Promise<ThinArchive> {
  const { reference, config, layers } = image;
  const manifest = json({
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: descriptor(`${OCI}.config.v1+json`, sha256(config), config.length),
    layers: layers.map(({ diffId, size }) => descriptor(`${OCI}.layer.v1.tar`, diffId, size)),
  });
  const digest = sha256(manifest);
  const annotations = { 'io.containerd.image.name': reference };
  const index = json({
    schemaVersion: 2,
    manifests: [{ ...descriptor(`${OCI}.manifest.v1+json`, digest, manifest.length), annotations }],
  });
  const tar = tarOf(async (tar) => {
    addText(tar, 'oci-layout', '{"imageLayoutVersion":"1.0.0"}');
    addText(tar, 'index.json', index);
    addText(tar, `${BLOBS}/${digest}`, manifest);
    addText(tar, `${BLOBS}/${sha256(config)}`, config);
  });
  return { archive: await buffer(tar), manifest: digest };
}

const json = (value: object) => Buffer.from(JSON.stringify(value));

const descriptor = (mediaType: string, digest: string, size: number) => ({
  ...{ mediaType, digest: `sha256:${digest}`, size },
});
