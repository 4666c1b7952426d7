/** Requests and results of the agents: one list, by which they are written, documented and collected. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { agentRecords } from '../../../../lib/engine/agents/records.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

const root = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const records = agentRecords(hostPaths('/')).map(({ path }) => path);

t.test('a record of an agent that the guide names is in a log bundle', async (t) => {
  const rows = read('docs/support.md')
    .split('\n')
    .filter((line) => /^\| `\/var\/lib\/sno-agents\/[a-z-]+\/[a-z]+\.json`/.test(line));
  const named = rows.flatMap((row) => {
    const [, folder = '', file = ''] = /`(\/\S+\/)([a-z]+\.json)`/.exec(row) ?? [];
    const others = [...row.matchAll(/`([a-z]+\.json)`/g)].map(([, name = '']) => name);
    return [file, ...others].map((name) => folder + name);
  });
  t.ok(named.length >= 9, `${named.length} files`);
  for (const path of named) t.ok(records.includes(path), path);
});

t.test('no other source names such a file', async (t) => {
  const names = new Set(records.map((path) => basename(path)));
  for (const path of globSync('{agents,lib}/**/*.ts', { cwd: root })) {
    if (path === 'lib/engine/agents/records.ts') continue;
    const joined = [...read(path).matchAll(/join\([^()]*(?:\([^()]*\))?[^()]*'([a-z-]+\.json)'/g)];
    for (const [text, name = ''] of joined) t.notOk(names.has(name), `${path}: ${text}`);
  }
});
