import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

export type Entry = Partial<Header> & { readonly name: string; readonly text?: string };

/** A .tar.gz of these entries, with any names and types. */
export async function tarGz(entries: readonly Entry[], mtime: Date): Promise<Buffer> {
  const archive = pack();
  for (const { text = '', ...header } of entries) archive.entry({ mtime, ...header }, text);
  archive.finalize();
  return gzipSync(await buffer(archive));
}
