import t from 'tap';
import { record as recordOf } from '../../../../agents/steps/record.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { journalOf } from '../host/journal.ts';

const record = recordOf('post-reboot');
const STATE = '/var/lib/sno-agents';
t.test('record', async (t) => {
  const host = testHost(t, { hostname: 'edge-7' });
  host.write(`${STATE}/live/bootkube.jsonl`, journalOf(['etcd', 'started'], ['etcd', 'done', 4]));
  host.write(`${STATE}/live/install-to-disk.jsonl`, journalOf(['write-disk', 'started']));
  host.write(
    `${STATE}/post-reboot/journal.jsonl`,
    journalOf(['api', 'started'], ['api', 'started'], ['api', 'done', 7], ['api', 'done', 8]),
  );
  host.write(`${STATE}/sno-restore/journal.jsonl`, journalOf(['place-etcd', 'started']));
  const restarts = [{ pod: 'etcd-edge-7', container: 'etcd', count: 2 }];
  host.write(`${STATE}/post-reboot/restarts.json`, JSON.stringify(restarts));
  const marker = { clusterId: cluster.clusterId, cluster: 'x', state: 'finished', at: 'then' };
  host.write(`${STATE}/installation.json`, JSON.stringify(marker));
  t.equal(await host.holds(record), false, 'before');
  t.same(await host.run(record), { kind: 'done' });
  t.equal(await host.holds(record), true, 'after');
  const written: unknown = JSON.parse(host.read(`${STATE}/record.json`));
  t.match(written, {
    schemaVersion: 1,
    clusterId: cluster.clusterId,
    cluster: 'edge.example.test',
    node: 'edge-7',
    installed: 'then',
    version: /^\d+\.\d+\.\d+/,
    completed: /^20\d\d-.*Z$/,
    containerRestarts: restarts,
    steps: [
      { agent: 'bootkube', name: 'etcd', seconds: 4, waited: 2, cpu: 1, attempts: 1 },
      { agent: 'install-to-disk', name: 'write-disk', seconds: 0, attempts: 1 },
      { agent: 'sno-restore', name: 'place-etcd' },
      { agent: 'post-reboot', name: 'api', seconds: 8, attempts: 2 },
    ],
  });
  t.equal(host.mode(`${STATE}/record.json`), 0o644, 'sno-deferred and people read it');
  t.same(await host.run(record), { kind: 'done' }, 'again');
  host.remove(`${STATE}/installation.json`);
  await host.run(record);
  t.notMatch(host.read(`${STATE}/record.json`), '"installed"', 'no mark, no time of it');
});
