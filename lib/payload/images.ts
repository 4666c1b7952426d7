import { Failure } from '../errors/failure.ts';
import type { Limits } from '../wait/limits.ts';
import { type Payload, type PayloadImage, payloadPath } from './payload.ts';

/** An image that a runtime has; `id` is the digest of its configuration: `sha256:…`. */
export interface StoredImage {
  id: string;
  /** Whether the runtime tells the kubelet never to collect it. */
  pinned: boolean;
}

export type ImportLimits = Limits;

/** How images get into one kind of container runtime. */
export interface ImageImporter {
  /** The reference of the image that the runtime starts every pod sandbox with, where it says so. */
  sandboxImage(limits: ImportLimits): Promise<string | undefined>;
  find(reference: string, limits: ImportLimits): Promise<StoredImage | undefined>;
  /** Imports every image of a docker archive under the names that it has there. */
  importArchive(archive: string, limits: ImportLimits): Promise<void>;
  /** Gives an image a second name, which it takes from another image that has it. */
  tag(reference: string, newReference: string, limits: ImportLimits): Promise<void>;
  /** Keeps an image from the kubelet's garbage collection: it cannot be pulled again. */
  pin(reference: string, limits: ImportLimits): Promise<void>;
}

export interface ImportOptions extends ImportLimits {
  /** Told what is being done, such as `import etcd`. */
  report: (description: string) => void;
}

/** The payload's image for pod sandboxes. */
const pauseName = 'pause';

/**
 * Makes the runtime hold every image of a verified payload, pinned, and the pause
 * image under the name that the runtime itself uses. What is there already, by
 * digest, is not imported again. Returns the names of the images imported.
 * @throws Failure (fatal) when the runtime has something else under a name afterwards.
 */
export async function importImages(
  payload: Payload,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<string[]> {
  const imported: string[] = [];
  for (const image of payload.images) {
    if (await ensureImage(payload, image, importer, options)) imported.push(image.name);
  }
  const pause = payload.images.find(({ name }) => name === pauseName);
  if (pause !== undefined) await ensureSandboxImage(pause, importer, options);
  return imported;
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

/** The runtime has the payload's pause image already. */
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
