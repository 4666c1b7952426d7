import { execaSync } from 'execa';
import t from 'tap';
import { agentsManual, snoManual } from '../../../../build/release/man.ts';
import {
  bashCompletion,
  fishCompletion,
  zshCompletion,
} from '../../../../cli/completion/completion.ts';
import { snoTree } from '../../../../cli/completion/sno-tree.ts';
import { AGENTS } from '../../../../lib/engine/agents/table.ts';

const tree = snoTree();
const page = { version: '1.2.3', date: new Date('2030-01-02T03:04:05Z') };

/** bash's completions after these words. */
function offered(...words: string[]): string[] {
  const script = `${bashCompletion(tree)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_sno
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execaSync('bash', ['-c', script], { timeout: 60_000 }).stdout.split('\n');
}

t.test('bash completes commands, their commands and their options', async (t) => {
  t.strictSame(offered('sno', 'cr'), ['create']);
  t.ok(offered('sno', '').includes('wait-for'));
  t.ok(offered('sno', 'create', 'single').includes('single-node-iso'));
  t.ok(offered('sno', 'create', 'single-node-iso', '--').includes('--iso'));
  t.notOk(offered('sno', 'verify', '').includes('create'));
});

t.test('every command and option is in each completion', async (t) => {
  for (const text of [zshCompletion(tree), fishCompletion(tree)]) {
    for (const name of ['single-node-iso', 'analyze', 'licenses', 'wait-for', 'dir']) {
      t.match(text, name);
    }
  }
});

t.test(
  'man pages have every command, option and agent, and escape what roff would read',
  async (t) => {
    const sno = snoManual(tree, page);
    t.match(sno, /^\.TH SNO 1 2030-01-02 "sno-agents 1\.2\.3"$/m);
    for (const name of ['sno create single\\-node\\-iso', '\\-\\-dir', 'sno licenses']) {
      t.ok(sno.includes(name), name);
    }
    const agents = agentsManual(page);
    for (const { name, unit } of AGENTS) {
      t.ok(agents.includes(name.replaceAll('-', '\\-')), name);
      t.ok(agents.includes(`${unit.replaceAll('-', '\\-')}.service`), unit);
    }
    for (const text of [sno, agents]) {
      const known = /^(\.(TH|SH|SS|TP|BR)\b|\\fB|\\fI|[^.'])/;
      t.strictSame(
        text.split('\n').filter((line) => line !== '' && !known.test(line)),
        [],
        'no line is taken for a request',
      );
    }
  },
);
