import t from 'tap';
import { expectMarked } from './marked.ts';

t.test('the list of cloud-init', async (t) => {
  await expectMarked(t, [
    'chpasswd:\n  list: |\n    root:«hunter22»\n    core:«hunter23»\n  expire: false\nb: c\n',
    'chpasswd:\n  list: |\n    root:«hunter22»\n    no user\n    core:«hunter 23»\nb:c\n',
    'chpasswd:\n  list:\n  - root:«hunter22»\n',
    'chpasswd:  \r\n  list:\n  - "root:«hunter22»"\n',
    '  chpasswd:\n    list:\n    - root:«hunter22»\n  b:c\n',
    'chpasswd: {list: "root:hunter22"}\n',
    'chpasswd:',
  ]);
});

t.test('a document that a shell gives to chpasswd', async (t) => {
  await expectMarked(t, [
    'chpasswd <<EOF\nroot:«hunter22»\ncore:«hunter 23»\nEOF\nroot:hunter22\n',
    'chpasswd <<EOF\na:«hunter22»\nEOF\n',
    "sudo chpasswd <<'END'\nroot:«hunter22»\nEND\nroot:hunter22\n",
    'chpasswd <<-"END"\n\troot:«hunter22»\n\tEND\nroot:hunter22\n',
    'CHPASSWD << END\nroot:«hunter22»  \r\ncore:«hunter 23»\r\nEND\r\nroot:hunter22\n',
    // The end stands after the prefix of a log, in which no line is a user's.
    'chpasswd <<EOF\nroot:«hunter22»\n',
    'chpasswd <<EOF\n',
    'chpasswd <<EOF',
    'chpasswd <<\nroot:hunter22\n',
    'chpasswd < users <<EOF\nroot:hunter22\nEOF\n',
  ]);
});

t.test('a line is a user and a password', async (t) => {
  const name = (length: number) => `r${'o'.repeat(length - 1)}`;
  await expectMarked(t, [
    ...[
      'a.b-c_1:«x»',
      '_a:«x:y»',
      '- root:«hunter22»',
      `"root:«hunter22»"`,
      `'root:«hunter22»'  `,
      `${name(32)}:«hunter22»`,
      `root:«${'ab-'.repeat(85)}xy»`,
      `${name(33)}:hunter22`,
      `root:${'ab-'.repeat(86)}`,
      'Root:hunter22',
      '2root:hunter22',
      'root: hunter22',
      'root:',
      ':hunter22',
      'root',
      'root:hunter"22',
    ].map((line) => `chpasswd <<EOF\n${line}\nEOF\n`),
  ]);
});

t.test('fifty lines are read', async (t) => {
  const users = Array.from({ length: 50 }, (_, index) => `u${index}:«pw-${index}»\n`).join('');
  await expectMarked(t, [
    `chpasswd <<EOF\n${users}EOF\nroot:hunter22\n`,
    `chpasswd <<EOF\n${users}root:hunter22\n`,
  ]);
});
