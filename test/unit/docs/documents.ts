import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..', '..');

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

export interface Link {
  /** As written, relative to the document; empty within the document itself. */
  file: string;
  /** What follows `#`; undefined without one. */
  anchor: string | undefined;
}

/** Markdown links of a text that point into the repository. */
export function links(text: string): Link[] {
  const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor] = target.split('#');
      return { file, anchor };
    });
}

/** The anchors that GitHub assigns to a document's headings; repeated headings are numbered. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  const withoutCode = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return Array.from(withoutCode.matchAll(/^#{1,6} +(.+)$/gm), ([, heading = '']) => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

/** Ignored by git, so missing in a clone. */
const IGNORED = ['node_modules', 'dist'];
/** Read from the repository, so that new folders are checked too. */
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !IGNORED.includes(entry.name))
  .map(({ name }) => name)
  .filter((name) => !name.startsWith('.') || name === '.ci');
/** Created by commands, so missing in a clone. */
const MADE = /^lab\/out(\/|$)/;

/** Every document for people, by its path from the root of the repository. */
export const documents = globSync(['*.md', ...folders.map((folder) => `${folder}/**/*.md`)], {
  cwd: root,
  exclude: (path) => MADE.test(path),
}).toSorted();

/** The documents that say what is in a folder, by the path of the folder. */
export const folderGuides: ReadonlyMap<string, string> = new Map(
  documents
    .filter((document) => basename(document) === 'README.md' && document !== 'README.md')
    .map((document) => [dirname(document), document]),
);

/** The folders in a folder that git would have. */
export const subfolders = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !MADE.test(`${folder}/${entry.name}`))
    .map(({ name }) => name);

const PATH = new RegExp(
  `^(?:${folders.map((name) => name.replace('.', '\\.')).join('|')})/[\\w.*/{},-]*$`,
);

/** Text in backticks that looks like a path in this repository; `*` and `{a,b}` are globs. */
export function namedPaths(text: string): string[] {
  const spans = Array.from(text.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span);
  return spans.filter((span) => PATH.test(span) && !MADE.test(span));
}
