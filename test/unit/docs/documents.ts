import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..', '..');

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every document for people, by its path from the root of the repository. */
export const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).toSorted();

/** The targets of Markdown links that lead to a file, without what comes after `#`. */
export function linkedFiles(text: string): string[] {
  const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target) && !target.startsWith('#'))
    .map((target) => target.replace(/#.*$/, ''));
}

const FOLDERS = 'agents|bench|build|cli|docs|lab|lib|test|units|\\.ci';
/** Made by the commands, so in no clone. */
const MADE = /^lab\/out(\/|$)/;
const PATH = new RegExp(`^(?:${FOLDERS})/[\\w.*/{},-]*$`);

/** What stands in backticks and looks like a path of this repository; `*` and `{a,b}` as in a glob. */
export function namedPaths(text: string): string[] {
  const spans = Array.from(text.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span);
  return spans.filter((span) => PATH.test(span) && !MADE.test(span));
}
