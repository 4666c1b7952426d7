import { constants, gzipSync } from 'node:zlib';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { IgnitionConfig } from '../../lib/render/ignition/config.ts';
import { runProgram } from '../process/program.ts';

/** The area of a CoreOS live ISO into which `coreos-installer iso ignition embed` writes. */
export const EMBED_AREA_BYTES = 256 * 1024;

/** The cpio archive around the config, and xz's own header. */
const ENVELOPE_BYTES = 1024;
const XZ_DEADLINE_MS = 60_000;

/**
 * The maximum number of bytes that a config takes in the embed area: its size with
 * gzip, which xz hardly exceeds, or with xz itself if gzip's is too large and `xz`
 * is installed.
 */
export async function embeddedBytes(text: string, signal: AbortSignal): Promise<number> {
  const gzip = gzipSync(text, { level: constants.Z_BEST_COMPRESSION }).length + ENVELOPE_BYTES;
  if (gzip <= EMBED_AREA_BYTES) return gzip;
  const { ok, stdout } = await runProgram('xz', ['-9', '--check=crc32', '--stdout'], {
    input: text,
    deadlineMs: XZ_DEADLINE_MS,
    signal,
  });
  return ok ? stdout.length + ENVELOPE_BYTES : gzip;
}

/** @throws Failure (usage) that names the largest files if `bytes` of the config do not fit */
export function requireEmbeddable(config: IgnitionConfig, bytes: number): void {
  if (bytes <= EMBED_AREA_BYTES) return;
  const largest = (config.storage?.files ?? [])
    .map((file) => ({ path: file.path, size: JSON.stringify(file).length }))
    .toSorted((a, b) => b.size - a.size)
    .slice(0, 5)
    .map(({ path, size }) => `  ${path} (${kibibytes(size)} before compression)`);
  throw new Failure(
    'usage',
    [
      `The Ignition config does not fit the live ISO: ${kibibytes(bytes)} compressed, ${kibibytes(EMBED_AREA_BYTES)} fit. Apply large manifests after the installation. The largest files:`,
      ...largest,
    ].join('\n'),
  );
}

/** A notice about a config that only a server can deliver; none if `bytes` of it fit. */
export const tooLarge = (bytes: number): string[] =>
  bytes <= EMBED_AREA_BYTES
    ? []
    : [
        `the config does not fit a live ISO (${kibibytes(bytes)} of ${kibibytes(EMBED_AREA_BYTES)}): serve it, or apply large manifests after the installation`,
      ];

export function kibibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
