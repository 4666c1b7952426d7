import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleView, CollectFailure } from '../../../report/bundle-view.ts';
import { textView } from '../../../report/text-view.ts';

/** When the bundles of these tests were made. */
export const NOW = Date.parse('2026-11-21T15:20:00Z');

/** A bundle of the given files, by path. */
export function viewOf(
  files: Readonly<Record<string, string>>,
  { atMs = NOW, failures = [] }: { atMs?: number; failures?: readonly CollectFailure[] } = {},
): BundleView {
  const view = textView(atMs, { paths: () => Object.keys(files), text: (path) => files[path] });
  return { ...view, failures };
}

/** The files of a folder beside this one, by path as in an unpacked bundle. */
export function filesOf(folder: string): Record<string, string> {
  const root = join(import.meta.dirname, folder);
  const paths = globSync('**/*', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    paths.map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
  );
}
