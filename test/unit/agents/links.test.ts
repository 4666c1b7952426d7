import { posix } from 'node:path';
import t from 'tap';
import { agentOf } from '../../../agents/agents.ts';
import { agentLinks, commandLinks } from '../../../lib/engine/agents/links.ts';
import { AGENTS, agentsOf } from '../../../lib/engine/agents/table.ts';
import { gatherLinks } from '../../../units/gather.ts';

const EXECUTABLE = '/var/lib/sno-agents/bin/sno-agents';

t.test(
  'each agent can be called by its name, from a folder in PATH and beside the executable',
  async (t) => {
    for (const { name } of AGENTS) {
      const links = agentLinks([name]);
      t.strictSame(
        links.map(({ path }) => path),
        [`/var/lib/sno-agents/bin/${name}`, `/usr/local/bin/${name}`],
      );
      for (const { path, target } of links) {
        t.equal(posix.resolve(posix.dirname(path), target), EXECUTABLE, path);
        t.equal(agentOf(posix.basename(path)), name);
      }
    }
    t.strictSame(commandLinks(['sno-agents']), [
      { path: '/usr/local/bin/sno-agents', target: EXECUTABLE },
    ]);
  },
);

t.test('gather can be called by its own name and by those that the installer knows', async (t) => {
  const names = gatherLinks.map(({ path }) => posix.basename(path));
  for (const name of names) t.equal(agentOf(name), 'gather', name);
  t.ok(names.includes('installer-gather.sh'));
});

t.test('links of a stage are removed with it', async (t) => {
  t.strictSame(agentsOf('live'), ['bootkube', 'install-to-disk', 'approve-csr', 'progress']);
  t.strictSame(agentsOf('in-place'), ['sno-in-place']);
  t.strictSame(agentsOf('pivot'), ['progress', 'sno-restore', 'post-reboot']);
  t.strictSame(agentsOf('aio'), ['progress', 'aiokube']);
  t.strictSame(agentsOf('worker'), ['progress', 'worker']);
  t.strictSame(agentsOf('joined'), ['sno-worker-trust']);
  t.strictSame(agentsOf('node'), [
    ...['sno-payload', 'sno-certificates', 'sno-renew', 'sno-backup'],
    ...['sno-backup-push', 'sno-backup-restore'],
    ...['sno-rotate', 'sno-identity', 'sno-address', 'sno-trial', 'sno-update', 'reconfigure'],
    'sno-approve',
  ]);
  t.strictSame(agentsOf('deferred'), ['sno-deferred']);
});
