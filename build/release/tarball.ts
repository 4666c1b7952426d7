import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** A file or link in a tarball, by path. */
export interface Entry {
  readonly path: string;
  readonly mode?: number;
  readonly contents: Buffer | string | { readonly link: string };
}

/**
 * Writes a gzipped tarball that depends only on the entries and the time: sorted, owned by root,
 * without data of the build machine.
 */
export async function writeTarball(
  output: string,
  entries: readonly Entry[],
  mtime: Date,
  signal: AbortSignal,
): Promise<void> {
  const tar = pack();
  const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root', mtime };
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const writing = pipeline(tar, createGzip({ level: 9 }), createWriteStream(output), { signal });
  for (const { path, mode = 0o644, contents } of sorted) {
    await new Promise<void>((resolve, reject) => {
      const added = (error?: Error | null) => (error ? reject(error) : resolve());
      if (typeof contents === 'object' && 'link' in contents) {
        tar.entry(
          { ...owner, name: path, mode: 0o777, type: 'symlink', linkname: contents.link },
          added,
        );
      } else {
        tar.entry({ ...owner, name: path, mode }, contents, added);
      }
    });
  }
  tar.finalize();
  await writing;
}
