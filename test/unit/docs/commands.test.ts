import t from 'tap';
import { allCommands } from '../../../cli/completion/command-tree.ts';
import { snoTree } from '../../../cli/completion/sno-tree.ts';
import { documents, read } from './documents.ts';

const commands = allCommands(snoTree()).toSorted((a, b) => b.path.length - a.path.length);

/** The commands of sno in blocks of code and between backquotes, as words, without comments. */
function typed(document: string): string[][] {
  const joined = read(document).replaceAll(/\\\n */g, '');
  const found = joined.matchAll(/^ *sno [a-z].*|`(sno [a-z][^`]*)`/gm);
  return Array.from(found, ([line, quoted]) =>
    (quoted ?? line)
      .replace(/ #.*| -*[|>].*/, '')
      .trim()
      .split(/\s+/),
  );
}

t.test('every command of sno in a document exists, with its options', async (t) => {
  const lines = documents
    // What it names may be gone.
    .filter((document) => document !== 'CHANGELOG.md')
    .flatMap((document) => typed(document).map((words) => ({ document, words })));
  t.ok(lines.length > 150, `${lines.length} are found`);
  t.ok(typed('docs/first-machine.md').length >= 6);
  for (const { document, words } of lines) {
    const line = words.join(' ');
    const command = commands.find(({ path }) => line === path || line.startsWith(`${path} `));
    t.not(command?.path, 'sno', `${document}: ${line}`);
    const known = new Set(['--help', ...(command?.options.map(({ long }) => long) ?? [])]);
    const options = words
      .filter((word) => word.startsWith('--'))
      .map((word) => word.replace(/=.*/, ''));
    t.strictSame(
      options.filter((word) => !known.has(word)),
      [],
      `${document}: ${line}`,
    );
  }
});
