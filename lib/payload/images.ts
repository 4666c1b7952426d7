import { Failure } from '../base/errors/failure.ts';
import { eachToItsEnd } from '../base/wait/each-to-its-end.ts';
import type { Limits } from '../base/wait/limits.ts';
import { type Payload, type PayloadImage, payloadPath } from './payload.ts';

/** An image in a runtime; `id` is the digest of its configuration: `sha256:…`. */
export interface ImportedImage {
  id: string;
  /** Whether the runtime tells the kubelet never to delete it. */
  pinned: boolean;
}

export type ImportLimits = Limits;

/** What a runtime may need to know of a payload's images before it has them. */
export interface NamedImages {
  readonly images: readonly Pick<PayloadImage, 'name' | 'reference'>[];
}

/** An image as a payload has it. */
export interface ArchivedCopy extends Pick<PayloadImage, 'name' | 'reference' | 'id'> {
  /** The absolute path of its archive. */
  readonly path: string;
}

/** Imports images into one kind of container runtime. */
export interface ImageImporter {
  /** Called before the images of a payload are imported. */
  prepare(payload: NamedImages, limits: ImportLimits): Promise<void>;
  /** The reference of the image of every pod sandbox; undefined if it needs no name, or is not known, which `warn` gets. */
  sandboxImage(limits: ImportLimits, warn: (sentence: string) => void): Promise<string | undefined>;
  find(reference: string, limits: ImportLimits): Promise<ImportedImage | undefined>;
  /**
   * Imports every image of a docker archive under its names in the archive, and waits for this one. Returns a sentence
   * if that was done in another way than usual.
   */
  importArchive(image: ArchivedCopy, limits: ImportLimits): Promise<string | undefined>;
  /** Gives an image a second name, taking it from another image if necessary. */
  tag(reference: string, newReference: string, limits: ImportLimits): Promise<void>;
  /** Protects an image from the kubelet's garbage collection: it cannot be pulled again. */
  pin(reference: string, limits: ImportLimits): Promise<void>;
  /**
   * Compares the files that the runtime has unpacked of an image with its archive. Undefined if those that it has are
   * right; otherwise what is wrong, in words.
   */
  damage(image: ArchivedCopy, limits: ImportLimits): Promise<string | undefined>;
  /** Removes these images by all their names, with what is unpacked of them, unless something that runs needs it. */
  discard(images: readonly ArchivedCopy[], limits: ImportLimits): Promise<void>;
}

export interface ImportOptions extends ImportLimits {
  /** Ids of images whose files are known to be on the disk. */
  readonly imported: ReadonlySet<string>;
  /** Receives the current activity, such as `import etcd`. */
  report: (description: string) => void;
  /** Receives a sentence about damage. */
  warn: (sentence: string) => void;
  /** Throws a Failure that names the damaged files of the payload, if any. */
  verify: () => Promise<void>;
}

export interface ImportResult {
  /** Names of the images imported. */
  readonly imported: string[];
  /** Ids of all images whose files are right, once they are synced. */
  readonly whole: string[];
}

/** While one image is unpacked, the next is read. No more, since a virtual CD is slow in finding places. */
const IMPORTS_AT_ONCE = 2;

/** The payload's image for pod sandboxes. */
const pauseName = 'pause';

/**
 * Ensures that the runtime has every image of a payload, pinned, and the
 * pause image under the name that the runtime itself uses. Images that already
 * exist, by digest, are not imported again, but what the runtime has unpacked of one that is not known to be on the
 * disk is compared with the archive first, and removed if it differs. After a failure of one image, the others
 * are still imported.
 *
 * The runtime compares each layer that it unpacks with the image's id, so the archives are verified only if one
 * of them fails, to name it, and before one is taken for right and the runtime's copy for damaged.
 * @throws Failure (fatal) if a name still belongs to something else in the runtime, and what `verify` throws
 */
export async function importImages(
  payload: Payload,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<ImportResult> {
  await importer.prepare(payload, options);
  const images = await Promise.all(
    payload.images.map(
      async ({ name, reference, id, archive }): Promise<ArchivedCopy> => ({
        ...{ name, reference, id, path: await payloadPath(payload, archive) },
      }),
    ),
  );
  const damaged = await damagedImages(images, importer, options);
  if (damaged.size > 0) {
    await options.verify();
    for (const [{ name }, found] of damaged) {
      options.warn(`The runtime's copy of ${name} is damaged: ${found}. It is imported again`);
    }
    await importer.discard([...damaged.keys()], options);
  }
  const imported = await importAll(images, importer, options);
  const pause = images.find(({ name }) => name === pauseName);
  if (pause !== undefined) await ensureSandboxImage(pause, importer, options);
  // What something needed could not be removed, and is not unpacked again.
  const still = await damagedImages([...damaged.keys()], importer, options);
  for (const [{ name }, found] of still) {
    options.warn(
      `The runtime's copy of ${name} is still damaged: ${found}. A pod needs it: restart the host`,
    );
  }
  const whole = images.filter((image) => !still.has(image)).map(({ id }) => id);
  return { imported: imported.flat(), whole };
}

/** Those whose unpacked files differ from their archives, with what is wrong. */
async function damagedImages(
  images: readonly ArchivedCopy[],
  importer: ImageImporter,
  options: ImportOptions,
): Promise<Map<ArchivedCopy, string>> {
  const damaged = new Map<ArchivedCopy, string>();
  for (const image of images) {
    if (options.imported.has(image.id)) continue;
    const found = await importer.damage(image, options);
    if (found !== undefined) damaged.set(image, found);
  }
  return damaged;
}

async function importAll(
  images: readonly ArchivedCopy[],
  importer: ImageImporter,
  options: ImportOptions,
): Promise<string[][]> {
  try {
    return await eachToItsEnd(
      images,
      async (image) => ((await ensureImage(image, importer, options)) ? [image.name] : []),
      IMPORTS_AT_ONCE,
    );
  } catch (error) {
    if (error instanceof Failure) await options.verify();
    throw error;
  }
}

async function ensureImage(
  image: ArchivedCopy,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<boolean> {
  const { name, reference, id } = image;
  const present = (await importer.find(reference, options))?.id === id;
  if (!present) {
    options.report(`import ${name}`);
    const said = await importer.importArchive(image, options);
    if (said !== undefined) options.report(said);
  }
  await ensurePinned(reference, id, importer, options);
  return !present;
}

/**
 * Whether the runtime finds the payload's pause image by the name that it uses itself. An update of the operating system may
 * bring a runtime that uses another one.
 */
export async function hasSandboxImage(
  images: readonly Pick<PayloadImage, 'name' | 'id'>[],
  importer: Pick<ImageImporter, 'sandboxImage' | 'find'>,
  limits: ImportLimits,
): Promise<boolean> {
  const pause = images.find(({ name }) => name === pauseName);
  const wanted = pause && (await importer.sandboxImage(limits, () => undefined));
  return wanted === undefined || (await importer.find(wanted, limits))?.id === pause?.id;
}

/** The runtime already has the payload's pause image. */
async function ensureSandboxImage(
  { reference, id }: ArchivedCopy,
  importer: ImageImporter,
  options: ImportOptions,
): Promise<void> {
  const wanted = await importer.sandboxImage(options, options.warn);
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
  if (found === undefined) {
    // The archive may still be sound: a runtime that is busy lists an image late.
    throw new Failure('retry', `The runtime does not have ${reference}`, {
      expected: id,
      found: 'no such image after its import',
      fix: 'See "journalctl -u containerd -u crio".',
    });
  }
  if (found.id !== id) {
    throw new Failure('fatal', `The runtime does not have ${reference}`, {
      code: 'payload-damaged',
      expected: id,
      found: found.id,
    });
  }
  if (!found.pinned) await importer.pin(reference, options);
}
