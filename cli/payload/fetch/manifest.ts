import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import type { Architecture } from '../../../lib/host/architecture.ts';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const descriptor = z.object({ digest, size: z.int().nonnegative() });
/** A list of docker, or an index of OCI. */
const listSchema = z.object({
  manifests: z
    .array(
      descriptor.extend({
        platform: z.object({ architecture: z.string(), os: z.string() }).nullish(),
      }),
    )
    .max(1000),
});
/** An image of docker (schema 2) or OCI. */
const imageSchema = z.object({ config: descriptor, layers: z.array(descriptor).max(500) });

/** Something in a registry: its digest, and its bytes as they are transferred. */
export interface Blob {
  readonly digest: string;
  readonly size: number;
}

/** The blobs of an image. */
export interface ImageBlobs {
  readonly config: Blob;
  readonly layers: readonly Blob[];
}

export type RegistryDocument =
  | { readonly kind: 'image'; readonly blobs: ImageBlobs }
  /** The digest of the image for an architecture. */
  | { readonly kind: 'list'; readonly digest: string };

/**
 * What a registry returned as the manifest of a reference.
 * @throws Failure (usage) if it is neither an image nor a list that has one for the architecture
 */
export function readManifest(
  text: string,
  reference: string,
  architecture: Architecture,
): RegistryDocument {
  const document = parseJson(text);
  const image = imageSchema.safeParse(document);
  if (image.success) return { kind: 'image', blobs: image.data };
  const list = listSchema.safeParse(document);
  if (!list.success) {
    throw new Failure('usage', `${reference} is not an image; nothing was written`, {
      expected: 'a manifest of OCI or of docker, schema 2',
      found: text.slice(0, 80),
      fix: 'Check what the registry serves under that reference.',
    });
  }
  const { manifests } = list.data;
  const own = manifests.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
  );
  if (own !== undefined) return { kind: 'list', digest: own.digest };
  const found = manifests.flatMap(({ platform }) =>
    platform == null ? [] : [`${platform.os}/${platform.architecture}`],
  );
  throw new Failure(
    'usage',
    `${reference} has no image for this architecture; nothing was written`,
    {
      expected: `linux/${architecture}`,
      found: [...new Set(found)].join(', ') || 'none',
      fix: 'Use another --arch, or a mirror that has all architectures.',
    },
  );
}

/** `registry.k8s.io/etcd` of `registry.k8s.io/etcd:3.7.0-0`. */
export const repositoryOf = (reference: string): string => reference.replace(/:[^/:]*$/, '');
