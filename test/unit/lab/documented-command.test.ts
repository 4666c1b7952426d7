import t from 'tap';
import { documentedCommand } from '../../../lab/first-machine/documented.ts';
import { read } from '../docs/documents.ts';

t.test('the commands of docs/first-machine.md that the lab runs', async (t) => {
  const document = read('docs/first-machine.md');
  for (const [beginning, ...rest] of [
    ['sno create payload', '--dir', 'payload'],
    ['sno create install-config', '--dir', 'D', '--ask'],
    ['sno create single-node-iso', '--dir', 'D'],
    ['sno wait-for install-complete', '--dir', 'D'],
    ['kubectl get', 'nodes'],
  ]) {
    const expected = [...(beginning?.split(' ') ?? []), ...rest];
    t.strictSame(documentedCommand(document, beginning ?? '').slice(0, expected.length), expected);
  }
});

t.test('what is not one plain command ends the run', async (t) => {
  const document = (line: string) => `\`sno a b\`\n\n\`\`\`sh\n${line}\n\`\`\`\n`;
  t.strictSame(documentedCommand(document('sno a  --b c'), 'sno a'), ['sno', 'a', '--b', 'c']);
  for (const line of [
    'sno b',
    'sno ab',
    'sno a $X',
    "sno a 'b c'",
    'sno a b | c',
    'sno a b # c',
    'sno a *',
    'sno a 1\nsno a 2',
  ]) {
    t.throws(() => documentedCommand(document(line), 'sno a'), /^docs\/first-machine/, line);
  }
});
