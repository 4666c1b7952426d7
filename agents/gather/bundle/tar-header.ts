import { once } from 'node:events';
import { pack } from 'tar-stream';

export const TAR_BLOCK = 512;
/** Two empty blocks end an archive. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK);

export interface FileHeader {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  readonly mtime: Date;
}

/** The blocks that stand before a file's contents in a tar archive, also of names that are too long for one. */
export async function tarHeader(header: FileHeader): Promise<Buffer> {
  const archive = pack();
  const entry = archive.entry({ ...header });
  // It is given up without its contents.
  entry.on('error', () => undefined);
  await once(archive, 'readable');
  const blocks: Uint8Array[] = [];
  for (let block = archive.read(); block instanceof Uint8Array; block = archive.read()) {
    blocks.push(block);
  }
  archive.destroy();
  return Buffer.concat(blocks);
}

/** What fills the last block of `bytes` of contents. */
export const tarPadding = (bytes: number): Buffer =>
  Buffer.alloc((TAR_BLOCK - (bytes % TAR_BLOCK)) % TAR_BLOCK);
