import type { BundleView } from '../../report/bundle-view.ts';
import type { Spooled } from './collecting/spool.ts';
import type { Source } from './source.ts';

interface Kept {
  readonly source: Source;
  readonly spooled: Spooled;
}

/** The small files that the report is made of, kept until it is written. */
export class Diagnosis implements BundleView {
  readonly atMs: number;
  readonly #files = new Map<string, Kept>();

  constructor(atMs: number) {
    this.atMs = atMs;
  }

  /** Is in charge of the spool from now on. */
  keep(source: Source, spooled: Spooled): void {
    this.#files.set(source.path, { source, spooled });
  }

  files(): Iterable<Kept> {
    return this.#files.values();
  }

  paths(): readonly string[] {
    return [...this.#files.keys()].toSorted();
  }

  lines(path: string): readonly string[] {
    const text = this.#text(path);
    return text === undefined ? [] : text.replace(/\n$/, '').split('\n');
  }

  json(path: string): unknown {
    const text = this.#text(path);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** Read each time it is asked for: all of them at once would be a lot of memory. */
  #text(path: string): string | undefined {
    return this.#files.get(path)?.spooled.textSync();
  }
}
