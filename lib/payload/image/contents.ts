import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { schemaWords } from '../../base/errors/schema-words.ts';
import { parseJson } from '../../base/json.ts';
import { sha256 } from '../../host/files.ts';
import { isReference } from './reference.ts';

/** What was read from an archive. */
export interface Contents {
  /** Type of each entry, by name. */
  entries: Map<string, string>;
  /** JSON documents, by name. */
  documents: Map<string, Buffer>;
}

/** The OCI specification requires that readers accept a manifest or a configuration of this size. */
export const MAX_DOCUMENT_BYTES = 4 << 20;

/** Maximum size of all manifests and configurations of an archive, which are read into memory. */
export const MAX_DOCUMENTS_BYTES = 32 << 20;

/** Whether a file that begins so may be a JSON document, rather than a layer of that size. */
export const beginsLikeJson = (beginning: Buffer): boolean =>
  /^\s*[{[]/.test(beginning.subarray(0, 16).toString('latin1'));

export type Format = 'docker' | 'oci';

export interface ArchivedImage {
  /** Full references that the archive gives to it. */
  references: string[];
  /** `sha256:` and the digest of the configuration. */
  id: string;
  config: Buffer;
  /** From the configuration: `amd64`, `arm64`, … */
  architecture: string;
  layers: ArchivedLayer[];
}

export interface ArchivedLayer {
  /** Name in the archive. */
  entry: string;
  /** SHA-256 (hex) of the uncompressed layer tar. */
  diffId: string;
}

const MAX_LAYERS = 500;
const MAX_IMAGES = 500;

const dockerManifest = z
  .array(
    z.object({
      Config: z.string(),
      RepoTags: z.array(z.string()).nullish(),
      Layers: z.array(z.string()).max(MAX_LAYERS),
    }),
  )
  .min(1)
  .max(MAX_IMAGES);

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const ociDescriptor = z.object({
  digest,
  annotations: z.record(z.string(), z.string()).nullish(),
  platform: z.object({ architecture: z.string(), os: z.string() }).nullish(),
});
const ociIndex = z.object({ manifests: z.array(ociDescriptor).min(1).max(MAX_IMAGES) });
const ociManifest = z.object({
  config: ociDescriptor,
  layers: z.array(ociDescriptor).max(MAX_LAYERS),
});

const imageConfig = z.object({
  architecture: z.string(),
  os: z.string(),
  rootfs: z.object({ type: z.literal('layers'), diff_ids: z.array(digest).max(MAX_LAYERS) }),
});

/**
 * The images that an archive's documents describe, with every digest verified except
 * those of the layers. @throws Failure (usage) that says what is missing or wrong
 */
export function imagesIn(contents: Contents): { format: Format; images: ArchivedImage[] } {
  // Newer versions of docker write both; manifest.json has the full names.
  if (contents.documents.has('manifest.json')) {
    return { format: 'docker', images: dockerImages(contents) };
  }
  if (contents.documents.has('index.json')) return { format: 'oci', images: ociImages(contents) };
  throw wrong('neither manifest.json of a docker archive nor index.json of an OCI layout');
}

function dockerImages(contents: Contents): ArchivedImage[] {
  return parse(contents, 'manifest.json', dockerManifest).map(({ Config, RepoTags, Layers }) => {
    const named = /([0-9a-f]{64})(\.json)?$/.exec(Config)?.[1];
    const config = documentOf(contents, Config, named);
    return imageOf(contents, RepoTags ?? [], { name: Config, config }, Layers);
  });
}

/** Annotations with the name of an image; the first one present counts. */
const NAME_ANNOTATIONS = ['io.containerd.image.name', 'org.opencontainers.image.ref.name'];

type Descriptor = z.infer<typeof ociDescriptor>;

function ociImages(contents: Contents): ArchivedImage[] {
  const { manifests } = parse(contents, 'index.json', ociIndex);
  const seen = new Set<string>();
  return manifests.flatMap((descriptor) => {
    // An image with two names occurs twice.
    const same = manifests.filter(({ digest }) => digest === descriptor.digest);
    const references = [...new Set(same.flatMap(referenceOf))];
    return manifestsOf(contents, descriptor, seen).map((manifest) =>
      ociImage(contents, references, manifest),
    );
  });
}

function referenceOf({ annotations }: Descriptor): string[] {
  return NAME_ANNOTATIONS.map((name) => annotations?.[name] ?? '')
    .filter(isReference)
    .slice(0, 1);
}

/**
 * The image manifests that a descriptor leads to, without attestations and other
 * operating systems. An index can name an index; each is visited once.
 */
function manifestsOf(
  contents: Contents,
  { digest, platform }: Descriptor,
  seen: Set<string>,
): string[] {
  const name = blob(digest);
  if (seen.has(name) || (platform != null && platform.os !== 'linux')) return [];
  seen.add(name);
  const index = ociIndex.safeParse(parseJson(documentOf(contents, name, digest).toString()));
  if (!index.success) return [name];
  return index.data.manifests.flatMap((inner) => manifestsOf(contents, inner, seen));
}

function ociImage(contents: Contents, references: string[], manifest: string): ArchivedImage {
  const { config, layers } = parse(contents, manifest, ociManifest);
  const name = blob(config.digest);
  const document = documentOf(contents, name, config.digest);
  return imageOf(
    contents,
    references,
    { name, config: document },
    layers.map(({ digest }) => blob(digest)),
  );
}

const blob = (digest: string) => digest.replace(/^sha256:/, 'blobs/sha256/');

function imageOf(
  { entries }: Contents,
  references: string[],
  { name, config }: { name: string; config: Buffer },
  layers: readonly string[],
): ArchivedImage {
  const parsed = imageConfig.safeParse(parseJson(config.toString()));
  if (!parsed.success) throw wrong(`${name}, which is not an image configuration`);
  const { architecture, os, rootfs } = parsed.data;
  if (os !== 'linux') throw wrong(`an image for ${os}`);
  if (layers.length !== rootfs.diff_ids.length) {
    throw wrong(`${layers.length} layers, but ${name} has ${rootfs.diff_ids.length}`);
  }
  for (const layer of layers) {
    const type = entries.get(layer);
    if (type === undefined) throw wrong(`no layer ${layer}`);
    if (type !== 'file') throw wrong(`a ${type} in place of the layer ${layer}`);
  }
  return {
    references,
    id: `sha256:${sha256(config)}`,
    config,
    architecture,
    layers: rootfs.diff_ids.map((diffId, index) => ({
      entry: layers[index] ?? '',
      diffId: diffId.slice('sha256:'.length),
    })),
  };
}

/** A document of the archive; its digest (hex, with or without `sha256:`) is verified if stated. */
function documentOf({ documents }: Contents, name: string, stated?: string): Buffer {
  const document = documents.get(name);
  if (document === undefined) throw wrong(`no JSON file ${name}`);
  if (stated !== undefined && sha256(document) !== stated.replace(/^sha256:/, '')) {
    throw wrong(`${name} with another digest`);
  }
  return document;
}

function parse<Schema extends z.ZodType>(
  contents: Contents,
  name: string,
  schema: Schema,
): z.infer<Schema> {
  const parsed = schema.safeParse(parseJson(documentOf(contents, name).toString()));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw wrong(
    `${name} with ${issue?.path.join('.') || 'contents'}: ${issue && schemaWords(issue)}`,
  );
}

function wrong(found: string): Failure {
  return new Failure('usage', 'not a usable image archive', { found });
}
