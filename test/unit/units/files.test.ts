import { readFileSync } from 'node:fs';
import t from 'tap';
import { gatherLinks } from '../../../units/gather.ts';
import { messageCatalog } from '../../../units/message-catalog.ts';

t.test('a bundle is gathered by the agent and by the names that installers call', async (t) => {
  const executable = '/var/lib/sno-agents/bin/sno-agents';
  t.strictSame(gatherLinks, [
    { path: '/var/lib/sno-agents/bin/gather', target: 'sno-agents' },
    { path: '/usr/local/bin/gather', target: executable },
    { path: '/usr/local/bin/installer-gather.sh', target: executable },
    { path: '/usr/local/bin/installer-masters-gather.sh', target: executable },
    {
      path: '/usr/local/bin/installer-master-bootstrap-in-place-gather.sh',
      target: executable,
    },
  ]);
});

t.test('journalctl -x finds the catalog in a folder that systemd reads', async (t) => {
  const source = new URL('../../../units/catalog/sno-agents.catalog', import.meta.url);
  t.strictSame(messageCatalog, {
    // Not /etc/systemd/catalog: systemd does not look there.
    path: '/usr/local/lib/systemd/catalog/sno-agents.catalog',
    contents: readFileSync(source, 'utf8'),
  });
});
