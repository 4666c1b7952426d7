import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { retire } from '../../../../agents/post-reboot/retire.ts';
import { agentLinks } from '../../../../lib/agents/links.ts';
import { AGENTS, type AgentName } from '../../../../lib/agents/table.ts';
import { gatherLinks } from '../../../../units/gather.ts';
import { withPrograms } from '../../gather/sources/programs.ts';
import { liveHost } from '../live-host.ts';

const GONE: readonly AgentName[] = ['progress', 'sno-restore', 'post-reboot'];
const STAYING = [
  ...agentLinks(['sno-payload', 'sno-certificates', 'sno-deferred']),
  ...gatherLinks,
].map(({ path }) => path);

t.test('links and state of the agents that have done their work go, the others stay', async (t) => {
  const root = t.testdir();
  const { context, paths, progress } = liveHost(root);
  await withPrograms(t, join(root, 'bin'), { systemctl: 'exit 0' });
  const all = [...agentLinks(AGENTS.map(({ name }) => name)), ...gatherLinks];
  for (const { path, target } of new Map(all.map((link) => [link.path, link])).values()) {
    mkdirSync(dirname(paths.at(path)), { recursive: true });
    symlinkSync(target, paths.at(path));
  }
  for (const name of GONE) mkdirSync(join(paths.state, name), { recursive: true });

  t.strictSame(await retire.run(context, progress()), { kind: 'done' });
  for (const { path } of agentLinks(GONE)) {
    await t.rejects(lstat(paths.at(path)), { code: 'ENOENT' }, path);
  }
  for (const path of STAYING) t.ok((await lstat(paths.at(path))).isSymbolicLink(), path);
  for (const name of GONE) t.notOk(existsSync(join(paths.state, name)), name);
});
