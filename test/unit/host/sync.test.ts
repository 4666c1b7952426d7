import t from 'tap';
import { syncFileSystems } from '../../../lib/host/sync.ts';
import { testHost } from '../agents/host/host.ts';

const signal = new AbortController().signal;

t.test('the file systems of the folders that exist are synced', async (t) => {
  const host = testHost(t);
  host.programs.give('sync', 'exit 0');
  host.write('/var/lib/a/file');
  host.write('/etc/b/file');
  const folders = ['/var/lib/a', '/var/lib/missing', '/etc/b'].map(host.at.bind(host));
  await syncFileSystems(folders, signal);
  t.strictSame(host.programs.calls(), [
    `sync --file-system ${host.at('/var/lib/a')} ${host.at('/etc/b')}`,
  ]);
});

t.test('a failed sync is an error', async (t) => {
  const host = testHost(t);
  host.programs.give('sync', 'echo "Input/output error" >&2\nexit 1');
  host.write('/var/lib/a/file');
  await t.rejects(syncFileSystems([host.at('/var/lib/a')], signal), /Input\/output error/);
});
