import { parseJson } from '../lib/json.ts';
import type { BundleView } from './bundle-view.ts';

/** Where the text of a bundle's files comes from. */
export interface TextFiles {
  paths(): Iterable<string>;
  /** Undefined when there is no such file. Called each time that a rule reads the file. */
  text(path: string): string | undefined;
}

/** A view of files that are UTF-8 text, whatever holds them. */
export function textView(atMs: number, files: TextFiles): BundleView {
  return {
    atMs,
    paths: () => [...files.paths()].toSorted(),
    lines: (path) => files.text(path)?.replace(/\n$/, '').split('\n') ?? [],
    json: (path) => parseJson(files.text(path)),
  };
}
