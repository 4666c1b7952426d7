import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { jsonFaults } from '../../base/errors/schema-faults.ts';
import { parseJson } from '../../base/json.ts';
import { architectures } from '../../host/architecture.ts';
import { releasePattern } from '../../payload/payload.ts';
import { numbersOf } from './version.ts';

/** Names of an update's files in its folder. */
export const UPDATE_FILES = {
  manifest: 'update.json',
  /** Of the manifest, in the format of `ssh-keygen -Y sign`. */
  signature: 'update.json.sig',
  executable: 'sno-agents',
  /** The folder of the payload. */
  payload: 'payload',
} as const;

/** No manifest needs more; larger files are not read. */
export const MAX_MANIFEST_BYTES = 64 << 10;

const digest = z.string().regex(/^[0-9a-f]{64}$/, { error: 'expected a SHA-256' });
const release = z.string().regex(releasePattern, { error: 'expected a version such as v1.34.4' });

export const updateManifestSchema = z.strictObject({
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('Update'),
  /**
   * Grows with each update: a host takes none whose serial is smaller than that of the update it has. Optional: earlier
   * releases neither write nor read it.
   */
  serial: z.int().positive().optional(),
  /** Until when a host takes it. */
  expires: z.iso.datetime().optional(),
  /** Of the hosts that it is for. */
  architecture: z.enum(architectures),
  executable: z.strictObject({
    version: z.string().refine((text) => numbersOf(text) !== undefined, {
      error: 'expected a version such as 1.2.3',
    }),
    /** Bytes. */
    size: z.int().positive(),
    sha256: digest,
  }),
  payload: z.strictObject({
    versions: z.strictObject({ kubernetes: release, etcd: release }),
    /** Bytes of all its files. */
    size: z.int().positive(),
    /** Of payload.yaml, which has the digests of all other files. */
    sha256: digest,
  }),
});

/** `update.json`: what an update consists of. Its signature covers it, and its digests cover everything else. */
export type UpdateManifest = z.infer<typeof updateManifestSchema>;

/** @throws Failure (usage) that names every fault; `path` names the text. */
export function parseUpdate(text: string, path: string): UpdateManifest {
  const parsed = updateManifestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${path} is not the manifest of an update`, {
    code: 'update-refused',
    expected: 'update.json as "sno create update" writes it',
    found: jsonFaults(text, parsed.error),
  });
}

export const updateText = (manifest: UpdateManifest): string =>
  `${JSON.stringify(manifest, null, 2)}\n`;
