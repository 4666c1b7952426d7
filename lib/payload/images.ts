import pMap from 'p-map';
import { Failure } from '../errors/failure.ts';
import type { Limits } from '../wait/limits.ts';
import { type Payload, type PayloadImage, payloadPath } from './payload.ts';

/** An image in a runtime; `id` is the digest of its configuration: `sha256:…`. */
export interface StoredImage {
  id: string;
  /** Whether the runtime tells the kubelet never to delete it. */
  pinned: boolean;
}

export type ImportLimits = Limits;

/** What a runtime may need to know of a payload's images before it has them. */
export interface NamedImages {
  readonly images: readonly Pick<PayloadImage, 'name' | 'reference'>[];
}

/** Imports images into one kind of container runtime. */
export interface ImageImporter {
  /** Called before the images of a payload are imported. */
  prepare(payload: NamedImages, limits: ImportLimits): Promise<void>;
  /** The reference of the image of every pod sandbox, if the runtime reports it. */
  sandboxImage(limits: ImportLimits): Promise<string | undefined>;
  find(reference: string, limits: ImportLimits): Promise<StoredImage | undefined>;
  /** Imports every image of a docker archive under its names in the archive. */
  importArchive(archive: string, limits: ImportLimits): Promise<void>;
  /** Gives an image a second name, taking it from another image if necessary. */
  tag(reference: string, newReference: string, limits: ImportLimits): Promise<void>;
  /** Protects an image from the kubelet's garbage collection: it cannot be pulled again. */
  pin(reference: string, limits: ImportLimits): Promise<void>;
}

export interface ImportOptions extends ImportLimits {
  /** Receives the current activity, such as `import etcd`. */
  report: (description: string) => void;
}

/** While one image is unpacked, the next is read. No more, since a virtual CD is slow in finding places. */
const IMPORTS_AT_ONCE = 2;

/** The payload's image for pod sandboxes. */
const pauseName = 'pause';

/**
 * Ensures that the runtime has every image of a verified payload, pinned, and the
 * pause image under the name that the runtime itself uses. Images that already
 * exist, by digest, are not imported again. After a failure of one image, the others
 * are still imported. Returns the names of the images imported.
 * @throws Failure (fatal) if a name still belongs to something else in the runtime
 */
export async function importImages(
  payload: Payload,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<string[]> {
  await importer.prepare(payload, options);
  const imported = await withoutAggregate(
    pMap(
      payload.images,
      async (image) => ((await ensureImage(payload, image, importer, options)) ? [image.name] : []),
      { concurrency: IMPORTS_AT_ONCE, stopOnError: false },
    ),
  );
  const pause = payload.images.find(({ name }) => name === pauseName);
  if (pause !== undefined) await ensureSandboxImage(pause, importer, options);
  return imported.flat();
}

/** Rejects with the first of several errors. */
async function withoutAggregate<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}

async function ensureImage(
  payload: Payload,
  image: PayloadImage,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<boolean> {
  const { name, reference, id, archive } = image;
  const present = (await importer.find(reference, options))?.id === id;
  if (!present) {
    options.report(`import ${name}`);
    await importer.importArchive(await payloadPath(payload, archive), options);
  }
  await ensurePinned(reference, id, importer, options);
  return !present;
}

/** The runtime already has the payload's pause image. */
async function ensureSandboxImage(
  { reference, id }: PayloadImage,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<void> {
  const wanted = await importer.sandboxImage(options);
  if (wanted === undefined) return;
  if ((await importer.find(wanted, options))?.id !== id) {
    options.report(`name the pause image ${wanted}`);
    await importer.tag(reference, wanted, options);
  }
  await ensurePinned(wanted, id, importer, options);
}

async function ensurePinned(
  reference: string,
  id: string,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<void> {
  const found = await importer.find(reference, options);
  if (found?.id !== id) {
    throw new Failure('fatal', `The runtime does not have ${reference}`, {
      code: 'payload-damaged',
      expected: id,
      found: found?.id ?? 'no such image',
    });
  }
  if (!found.pinned) await importer.pin(reference, options);
}
