import t, { type Test } from 'tap';
import { freeSpace } from '../../../../lib/clients/etcd/free-space.ts';
import { serveEtcd, statusAt } from './serve-etcd.ts';

/** Calls in their order; alarms are raised until they are taken back. */
async function member(t: Test, alarms: { memberID: string; alarm: string }[]) {
  const calls: unknown[] = [];
  const client = await serveEtcd(t, {
    Status: () => ({ ...statusAt(12), dbSize: calls.includes('defragment') ? 1024 : 4096 }),
    Compact: ({ revision, physical }) => {
      calls.push(['compact', revision, physical]);
      return { header: {} };
    },
    Defragment: () => {
      calls.push('defragment');
      return {};
    },
    Alarm: ({ action, memberID, alarm }) => {
      if (action === 'GET') return { alarms };
      calls.push([action, memberID, alarm]);
      return { alarms: [] };
    },
  });
  const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 30_000 };
  return { calls, free: () => freeSpace(client, limits) };
}

t.test('compacted, defragmented, and only then disarmed', async (t) => {
  const { calls, free } = await member(t, [{ memberID: '77', alarm: 'NOSPACE' }]);
  t.strictSame(await free(), { before: 4096, after: 1024, quota: 8192, isDisarmed: true });
  t.strictSame(calls, [['compact', '12', true], 'defragment', ['DEACTIVATE', '77', 'NOSPACE']]);
});

t.test('without an alarm there is none to take back', async (t) => {
  const { calls, free } = await member(t, []);
  t.match(await free(), { isDisarmed: false });
  t.strictSame(calls, [['compact', '12', true], 'defragment']);
});

t.test('a corrupt database is not touched', async (t) => {
  const { calls, free } = await member(t, [
    { memberID: '77', alarm: 'NOSPACE' },
    { memberID: '77', alarm: 'CORRUPT' },
  ]);
  await t.rejects(free(), {
    kind: 'fatal',
    message: /sno-backup list.*sno-backup restore --from/,
  });
  t.strictSame(calls, []);
});
