import t from 'tap';
import { runDeferred } from '../../../../agents/deferred/main.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';

const EXPIRY = '/var/lib/sno-agents/sno-deferred/expiry.json';

t.test('sno-deferred run', async (t) => {
  const host = testHost(t);
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const before = signals.map((name) => process.listeners(name));
  t.teardown(() => {
    for (const [index, name] of signals.entries()) {
      for (const listener of process.listeners(name)) {
        if (!before[index]?.includes(listener)) process.removeListener(name, listener);
      }
    }
  });
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/var/lib/sno-agents/record.json', '{"completed":"2026-03-01T12:00:00.000Z"}');
  const run = (...args: string[]) => runDeferred(host.paths, ['run', '--until', 'apply', ...args]);
  t.equal(await run('--expires-in-hours', '0'), 2, 'wrong arguments');
  t.notOk(host.has(EXPIRY));
  t.equal(await run('--expires-in-hours', '2'), 0, 'nothing waits');
  const { expires } = JSON.parse(host.read(EXPIRY));
  t.ok(Math.abs(Date.parse(expires) - Date.now() - 2 * 3_600_000) < 600_000, expires);
  t.match(
    host.read('/var/lib/sno-agents/sno-deferred/journal.jsonl'),
    /"step":"apply".*"event":"done"/,
  );
});
