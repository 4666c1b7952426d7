import { existsSync, globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { TIERS } from './tiers.ts';

export interface Wanted {
  /** Parts of the run, cheapest first; all if none was named. */
  readonly parts: readonly string[];
  /** Test files, relative to the root; all of their tier if none was named. */
  readonly files: readonly string[];
  /** Run again after each change, until interrupted. */
  readonly watch: boolean;
}

const PARTS = ['lint', 'format', 'types', ...TIERS.map(({ name }) => name)];

/**
 * Parses the arguments of `node test/run.ts ARGUMENT...`: names of parts, test files or folders of
 * them, and `--watch`. Returns a message if an argument is none of these.
 */
export function wantedBy(args: readonly string[], root: string, cwd: string): Wanted | string {
  const watch = args.includes('--watch');
  const rest = args.filter((argument) => argument !== '--watch' && argument !== '--');
  const parts = rest.filter((argument) => PARTS.includes(argument));
  const paths = rest.filter((argument) => !PARTS.includes(argument));
  const unknown = paths.filter((path) => !existsSync(resolve(cwd, path)));
  if (unknown.length > 0) {
    return `Unknown: ${unknown.join(', ')}. Name some of ${PARTS.join(', ')}, or test files.`;
  }
  const files = paths.flatMap((path) => testFiles(relative(root, resolve(cwd, path)), root));
  const empty = paths.filter(
    (path) => testFiles(relative(root, resolve(cwd, path)), root).length === 0,
  );
  if (empty.length > 0) return `No test file (*.test.ts) is in ${empty.join(', ')}.`;
  return { parts: parts.length > 0 ? parts : partsOf(files), files, watch };
}

function testFiles(path: string, root: string): string[] {
  if (path.endsWith('.test.ts')) return [path];
  return globSync(`${path}/**/*.test.ts`, { cwd: root }).toSorted();
}

/** The tiers of the named files; all parts of `npm test` if there are none. */
function partsOf(files: readonly string[]): string[] {
  if (files.length === 0) return ['lint', ...TIERS.map(({ name }) => name)];
  return TIERS.map(({ name }) => name).filter((name) =>
    files.some((file) => file.startsWith(join('test', name, '/'))),
  );
}
