import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { sha256 } from '../../../lib/host/files.ts';
import { parsePayload, payloadFile } from '../../../lib/payload/payload.ts';

/** Compresses the files of a payload, as `sno create payload --compress` does; returns the digest of its payload.yaml. */
export function compressPayloadIn(folder: string): string {
  const path = join(folder, payloadFile);
  const { images, binaries, ...rest } = parsePayload(readFileSync(path, 'utf8'), path);
  const zstdOf = (file: string) => {
    const bytes = zstdCompressSync(readFileSync(join(folder, file)));
    writeFileSync(join(folder, `${file}.zst`), bytes);
    rmSync(join(folder, file));
    return { size: bytes.length, sha256: sha256(bytes) };
  };
  const text = JSON.stringify({
    ...rest,
    images: images.map((image) => ({ ...image, zstd: zstdOf(image.archive) })),
    binaries: binaries.map((binary) => ({ ...binary, zstd: zstdOf(binary.file) })),
  });
  writeFileSync(path, text);
  return sha256(text);
}
