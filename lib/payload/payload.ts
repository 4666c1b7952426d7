import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { Failure } from '../base/errors/failure.ts';
import { fieldOf } from '../base/errors/schema-faults.ts';
import { schemaWords } from '../base/errors/schema-words.ts';
import { architectures } from '../host/architecture.ts';
import { isMissing, sha256 } from '../host/files.ts';
import { referencePattern } from './image/reference.ts';

export const releasePattern = /^v\d+\.\d+\.\d+[0-9A-Za-z.+-]*$/;

/**
 * A path inside the payload: plain segments, no `.` or `..`, not absolute. The
 * first character of a segment ensures that it is not taken for an option.
 */
const relativePath = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._+-]*(\/[A-Za-z0-9_][A-Za-z0-9._+-]*)*$/, {
    error: 'expected a path inside the payload, without . or .. and not absolute',
  });
/** Names of images and binaries. */
export const namePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const fileName = z.string().regex(namePattern, { error: 'expected a file name without a path' });
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { error: 'expected a SHA-256, 64 hexadecimal digits' });
const reference = z.string().max(255).regex(referencePattern, {
  error: 'expected an image reference with registry and tag, such as registry.k8s.io/pause:3.10',
});
const size = z.int().positive();

/** The file as a laptop, a medium and a server have it, if compressed: under its own name and `.zst`. */
const zstd = z.strictObject({ size, sha256: digest }).optional();

const image = z.strictObject({
  name: fileName,
  reference,
  /** Digest of the image's configuration: the image's id in every runtime. */
  id: z.string().regex(/^sha256:[0-9a-f]{64}$/, {
    error: 'expected sha256: and the digest of the image configuration',
  }),
  /** An uncompressed docker archive that contains the image under its reference. */
  archive: relativePath,
  /** Bytes of the archive. */
  size,
  sha256: digest,
  zstd,
});

const binary = z.strictObject({
  name: fileName,
  /** `cni`: a network plugin, which the container runtime looks for in its own folder. */
  kind: z.enum(['host', 'cni']).default('host'),
  file: relativePath,
  /** Bytes of the file. */
  size,
  sha256: digest,
  zstd,
});

const release = z.string().regex(releasePattern, { error: 'expected a version such as v1.34.4' });

/** The contents of payload.yaml. */
export const payloadSchema = z.strictObject({
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('Payload'),
  /** Architecture of the target host, as named in container images. */
  architecture: z.enum(architectures),
  versions: z.strictObject({ kubernetes: release, etcd: release }),
  images: z
    .array(image)
    .min(1)
    .superRefine(unique('name', ({ name }) => name))
    .superRefine(unique('reference', ({ reference }) => reference)),
  binaries: z
    .array(binary)
    .min(1)
    .superRefine(unique('name', ({ name }) => name)),
});

export type PayloadImage = z.infer<typeof image>;
export type PayloadBinary = z.infer<typeof binary>;

/** The contents of payload.yaml. */
export type PayloadDescription = z.infer<typeof payloadSchema>;

/** The contents of payload.yaml, and the folder that its paths are relative to. */
export interface Payload extends PayloadDescription {
  readonly directory: string;
  /** Of payload.yaml as it was read: a copy is of that, even if the file is replaced meanwhile. */
  readonly descriptionSha256: string;
}

export const payloadFile = 'payload.yaml';

/** No payload needs more; larger files are not read into memory. */
export const maxDescriptionBytes = 1 << 20;

/**
 * Reads and validates `payload.yaml`. @throws Failure (usage) with every fault:
 * file, line, field.
 */
export async function readPayload(directory: string): Promise<Payload> {
  const path = join(directory, payloadFile);
  return payloadIn(resolve(directory), await readDescription(path));
}

/** The payload of a folder that has this description. @throws Failure (usage) like readPayload */
export const payloadIn = (directory: string, text: string): Payload => ({
  ...parsePayload(text, join(directory, payloadFile)),
  directory,
  descriptionSha256: sha256(text),
});

/** The pure part of readPayload; `path` names the text in errors. */
export const parsePayload = (text: string, path: string): PayloadDescription =>
  parseDescribed(text, payloadSchema, (faults) => faulty(path, faults));

/** A YAML text that has what a schema says. @throws what is made of all its faults */
export function parseDescribed<T>(
  text: string,
  schema: z.ZodType<T>,
  refused: (faults: readonly string[]) => Failure,
): T {
  const document = parseDocument(text);
  const syntax = document.errors.map(({ message }) => message.split('\n')[0] ?? message);
  if (syntax.length > 0) throw refused(syntax);
  const parsed = schema.safeParse(toJs(document, refused));
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  throw refused(
    issues.map((issue) => `${fieldOf(issue.path) || 'the document'}: ${schemaWords(issue)}`),
  );
}

/** The parser throws an exception for excessive aliases. */
function toJs(document: Document.Parsed, refused: (faults: string[]) => Failure): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw refused([cause instanceof Error ? cause.message : String(cause)]);
  }
}

/**
 * The absolute path of a file of the payload, which must be a regular file reached
 * without symlinks. @throws Failure (usage)
 */
export async function payloadPath(
  payload: Pick<Payload, 'directory'>,
  relative: string,
): Promise<string> {
  const file = await openPayloadFile(payload, relative);
  await file.close();
  return join(payload.directory, relative);
}

/** Opens a file of the payload for reading, under the same conditions as payloadPath. */
export async function openPayloadFile(
  { directory }: Pick<Payload, 'directory'>,
  relative: string,
): Promise<FileHandle> {
  const expected = join(await realpath(directory), relative);
  const found = await realpath(expected).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    throw new Failure('usage', `The payload does not contain ${relative}`, {
      code: 'payload-damaged',
      expected,
    });
  });
  if (found !== expected) throw notPlain(relative, `a link to ${found}`);
  // Non-blocking: opening a named pipe would otherwise wait.
  const file = await open(found, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw notPlain(relative, 'something else');
}

function notPlain(relative: string, found: string): Failure {
  const expected = 'a regular file, without symbolic links in its path';
  return new Failure('usage', `${relative} of the payload is not a regular file`, {
    expected,
    found,
  });
}

async function readDescription(path: string): Promise<string> {
  // Non-blocking: opening a named pipe would otherwise wait.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (!isMissing(error)) throw error;
      throw new Failure('usage', `No payload found: ${path} does not exist`, {
        code: 'payload-damaged',
        fix: 'Name a folder that "sno create payload" has made; for a host, put it on its medium, or give its URL.',
      });
    },
  );
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw notPlain(payloadFile, 'something else');
    const { size } = stat;
    if (size <= maxDescriptionBytes) return await file.readFile('utf8');
    throw faulty(path, [`expected at most ${maxDescriptionBytes} bytes, found ${size}`]);
  } finally {
    await file.close();
  }
}

/** Rejects entries with the same value in a field as an earlier one. */
function unique<Entry>(field: string, fieldOf: (entry: Entry) => string) {
  return (entries: Entry[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [index, entry] of entries.entries()) {
      const value = fieldOf(entry);
      if (seen.has(value)) {
        context.addIssue({ code: 'custom', path: [index, field], message: `duplicate ${value}` });
      }
      seen.add(value);
    }
  };
}

function faulty(path: string, faults: readonly string[]): Failure {
  return new Failure('usage', `${path}: ${faults.join('; ')}`, {
    fix: 'Create the payload again, or correct the named fields',
  });
}
