import { parseJson } from '../lib/base/json.ts';
import type { BundleView } from './bundle-view.ts';

/** Source of the text of a bundle's files. */
export interface TextFiles {
  paths(): Iterable<string>;
  /** Undefined if the file does not exist. Called each time a rule reads the file. */
  text(path: string): string | undefined;
}

/** A view of UTF-8 text files, wherever they are stored. */
export function textView(atMs: number, files: TextFiles): BundleView {
  return {
    atMs,
    paths: () => [...files.paths()].toSorted(),
    lines: (path) => files.text(path)?.replace(/\n$/, '').split('\n') ?? [],
    json: (path) => parseJson(files.text(path)),
  };
}
