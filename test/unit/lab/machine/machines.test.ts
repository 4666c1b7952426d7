import t from 'tap';
import { machines } from '../../../../lab/machine/machines.ts';

const { signal } = new AbortController();
const identity = { name: 'sno', mac: '52:54:00:00:00:0a', addresses: ['192.0.2.10'] } as const;
const options = { identity, folder: '/none', logs: '/none', label: 'live', image: '/none' };

t.test('a live host needs an ISO that it boots, with all its programs', async (t) => {
  const { bootLive } = machines({ accelerator: 'tcg', firmware: 'bios' });
  const refused = { message: /no ISO of its own/ };
  await t.rejects(bootLive(options, signal), refused);
  await t.rejects(bootLive({ ...options, iso: '/live.iso', programs: ['/a'] }, signal), refused);
});
