import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { retire } from '../../../../agents/post-reboot/retire.ts';
import { agentLinks } from '../../../../lib/agents/links.ts';
import { AGENTS, type AgentName } from '../../../../lib/agents/table.ts';
import { gatherLinks } from '../../../../units/gather.ts';
import { testHost } from '../host/host.ts';

const GONE: readonly AgentName[] = ['progress', 'sno-restore', 'post-reboot'];
const STAYING = [
  ...agentLinks(['sno-payload', 'sno-certificates', 'sno-renew', 'sno-deferred']),
  ...gatherLinks,
].map(({ path }) => path);

t.test('links and state of finished agents are deleted, others are kept', async (t) => {
  const host = testHost(t);
  host.programs.give('systemctl', 'exit 0');
  const all = [...agentLinks(AGENTS.map(({ name }) => name)), ...gatherLinks];
  for (const { path, target } of new Map(all.map((link) => [link.path, link])).values()) {
    host.write(`${path}.keep`);
    symlinkSync(target, host.at(path));
  }
  for (const name of GONE) host.write(join('/var/lib/sno-agents', name, 'journal.jsonl'));

  t.strictSame(await host.run(retire), { kind: 'done' });
  for (const { path } of agentLinks(GONE)) t.notOk(host.has(path), path);
  for (const path of STAYING) t.ok(host.has(path), path);
  for (const name of GONE) t.notOk(host.has(join('/var/lib/sno-agents', name)), name);
});
