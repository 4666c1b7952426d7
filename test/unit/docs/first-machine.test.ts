import t from 'tap';
import { allCommands } from '../../../cli/completion/command-tree.ts';
import { snoTree } from '../../../cli/completion/sno-tree.ts';
import { read } from './documents.ts';

const tree = snoTree();

t.test('every command of the first machine exists, with its options', async (t) => {
  const lines = Array.from(
    read('docs/first-machine.md').matchAll(/^sno .*|`(sno [a-z][^`]*)`/gm),
    ([line, quoted]) => (quoted ?? line).split(' '),
  ).filter(([, first = '']) => !first.startsWith('-'));
  t.ok(lines.length >= 6, 'they are found');
  const commands = allCommands(tree).toSorted((a, b) => b.path.length - a.path.length);
  for (const words of lines) {
    const line = words.join(' ');
    const command = commands.find(({ path }) => line === path || line.startsWith(`${path} `));
    t.not(command?.path, 'sno', line);
    const known = new Set(command?.options.map(({ long }) => long));
    const unknown = words.filter((word) => word.startsWith('--') && !known.has(word));
    t.strictSame(unknown, [], line);
  }
});
