import { once } from 'node:events';
import { pack } from 'tar-stream';

export const TAR_BLOCK = 512;
/** Two empty blocks mark the end of an archive. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK);

export interface FileHeader {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  readonly mtime: Date;
}

/** The header blocks of a file in a tar archive, including those for names too long for one block. */
export async function tarHeader(header: FileHeader): Promise<Buffer> {
  const archive = pack();
  const entry = archive.entry({ ...header });
  // The entry is discarded without its contents.
  entry.on('error', () => undefined);
  await once(archive, 'readable');
  const blocks: Uint8Array[] = [];
  for (let block = archive.read(); block instanceof Uint8Array; block = archive.read()) {
    blocks.push(block);
  }
  archive.destroy();
  return Buffer.concat(blocks);
}

/** Padding for the last block of `bytes` of contents. */
export const tarPadding = (bytes: number): Buffer =>
  Buffer.alloc((TAR_BLOCK - (bytes % TAR_BLOCK)) % TAR_BLOCK);
