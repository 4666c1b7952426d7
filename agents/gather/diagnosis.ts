import type { TextFiles } from '../../report/text-view.ts';
import type { Spooled } from './collecting/spool.ts';
import type { Source } from './source.ts';

interface Kept {
  readonly source: Source;
  readonly spooled: Spooled;
}

/** The small files that the report is made of, kept until it is written. */
export class Diagnosis implements TextFiles {
  readonly #files = new Map<string, Kept>();

  /** Takes over the spool: removing it is up to the one who packs `files()`. */
  keep(source: Source, spooled: Spooled): void {
    this.#files.set(source.path, { source, spooled });
  }

  files(): Iterable<Kept> {
    return this.#files.values();
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  /** Decompressed at each call: all files at once would take a lot of memory. */
  text(path: string): string | undefined {
    return this.#files.get(path)?.spooled.textSync();
  }
}
