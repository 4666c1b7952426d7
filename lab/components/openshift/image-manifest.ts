import { sha256 } from '../../../lib/host/files.ts';

/** A blob of an image: its SHA-256 (hex) and its size. */
export interface Blob {
  readonly digest: string;
  readonly bytes: number;
}

const IMAGE = 'application/vnd.oci.image';
export const MANIFEST_TYPE = `${IMAGE}.manifest.v1+json`;

/**
 * The OCI manifest of an image with uncompressed layers, the lowest first. Its digest is that by
 * which a registry serves the image.
 */
export function imageManifest(
  config: Blob,
  layers: readonly Blob[],
): { readonly text: string; readonly digest: string } {
  const descriptor = (mediaType: string, { digest, bytes }: Blob) => ({
    mediaType,
    digest: `sha256:${digest}`,
    size: bytes,
  });
  const text = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: descriptor(`${IMAGE}.config.v1+json`, config),
    layers: layers.map((layer) => descriptor(`${IMAGE}.layer.v1.tar`, layer)),
  });
  return { text, digest: `sha256:${sha256(text)}` };
}
