import { z } from 'zod';
import { jsonFaults } from '../../base/errors/schema-faults.ts';
import { parseJson } from '../../base/json.ts';
import { sha256 } from '../../host/files.ts';
import { isVolumePath } from './paths.ts';
import { refused } from './refused.ts';
import { VOLUME_LIMITS } from './volume.ts';

/** No manifest of so few files needs more. */
export const MAX_VOLUME_MANIFEST_BYTES = 64 << 10;
export const FORMAT_VERSION = 1;

const fileSchema = z.strictObject({
  path: z.string().refine(isVolumePath, 'expected a path below the volume'),
  bytes: z.int().min(0).max(VOLUME_LIMITS.bytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256'),
});

export const volumeManifestSchema = z
  .strictObject({
    apiVersion: z.literal('sno-agents/v1'),
    kind: z.literal('SiteVolume'),
    formatVersion: z.literal(FORMAT_VERSION),
    serial: z.int().min(1).describe('higher than that of every volume that the node has used'),
    createdAt: z.iso.datetime().describe('by the clock of the laptop'),
    validUntil: z.iso.datetime().optional().describe('not used after it'),
    hosts: z
      .array(z.string())
      .describe('serial numbers of machines and MAC addresses; empty: every node'),
    encrypted: z.boolean().describe('whether the files are in site-volume.age'),
    files: z.array(fileSchema).min(1).max(VOLUME_LIMITS.files),
  })
  .refine(({ files }) => isUnambiguous(files.map(({ path }) => path)), 'a file is named twice')
  .refine(
    ({ files }) => files.reduce((sum, { bytes }) => sum + bytes, 0) <= VOLUME_LIMITS.bytes,
    `more than ${VOLUME_LIMITS.bytes} bytes`,
  );

/** `site-volume.json`: its signature covers it, and its digests cover every other file of the volume. */
export type VolumeManifest = z.infer<typeof volumeManifestSchema>;

/** Also on media that do not tell upper and lower case apart. */
export const isUnambiguous = (paths: readonly string[]): boolean =>
  new Set(paths.map((path) => path.toLowerCase())).size === paths.length;

export const manifestText = (manifest: VolumeManifest): string =>
  `${JSON.stringify(manifest, null, 2)}\n`;

/** @throws Failure (usage, `site-volume-refused`) that names every fault */
export function parseVolumeManifest(text: string): VolumeManifest {
  const parsed = volumeManifestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw refused('site-volume.json is not the manifest of a site volume', {
    expected: `what "sno create site-volume" writes, with formatVersion ${FORMAT_VERSION}`,
    found: jsonFaults(text, parsed.error),
  });
}

/** The files as the manifest lists them, in the order of their paths. */
export const listedFiles = (files: ReadonlyMap<string, Uint8Array>): VolumeManifest['files'] =>
  [...files]
    .map(([path, bytes]) => ({ path, bytes: bytes.length, sha256: sha256(bytes) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
