import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';

/** Fixed, so that the same contents always give the same archive. */
export const epoch = new Date(0);

/** A tar archive with what `add` puts into it, as a stream; its error is that of the stream. */
export function tarOf(add: (tar: Pack) => Promise<void>): Pack {
  const tar = pack();
  add(tar)
    .then(() => tar.finalize())
    // A file that cannot be read must also end the reading of the archive.
    .catch((error: unknown) => tar.destroy(error instanceof Error ? error : undefined));
  return tar;
}

/** Destroying an archive destroys its open entries too; the archive's own error is enough. */
export function quiet<Entry extends ReturnType<Pack['entry']>>(entry: Entry): Entry {
  entry.on('error', () => undefined);
  return entry;
}

export function addText(tar: Pack, name: string, text: string | Uint8Array, mode = 0o644): void {
  quiet(tar.entry({ name, mode, mtime: epoch }, Buffer.from(text)));
}

export async function addFile(
  tar: Pack,
  name: string,
  source: string,
  mode: number,
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(source);
  const entry = quiet(tar.entry({ name, mode, size, mtime: epoch }));
  await pipeline(createReadStream(source, { highWaterMark: 1 << 20 }), entry, { signal });
}
