import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bringPayload } from '../../../lib/payload/bring.ts';
import { description, host } from './bringing-host.ts';

t.test('a payload brought since this boot is looked at again only when it is needed', async (t) => {
  const { payload, paths, progress, stored, called } = await host(t);
  const syncs = () => called().filter((call) => call.startsWith('sync ')).length;
  await bringPayload(payload, paths, progress);
  // No one needs the archive any more.
  writeFileSync(join(payload, 'images/etcd.tar'), 'rat');
  t.strictSame(await bringPayload(payload, paths, progress), { images: 1, binaries: 2 });
  t.equal(syncs(), 1, 'nothing new to sync');
  rmSync(join(paths.binaries, 'kubelet'));
  await bringPayload(payload, paths, progress);
  t.equal(syncs(), 2, 'the new binary');
  stored.set('r.test/etcd:1', { id: 'sha256:other', pinned: true });
  await t.rejects(bringPayload(payload, paths, progress), /images\/etcd\.tar: expected/);
  stored.clear();
  await bringPayload(payload, paths, progress);
  t.equal(syncs(), 3, 'what was imported by then was not synced');
});

t.test(
  'images are synced again in the next boot, and those of another payload at once',
  async (t) => {
    const { payload, paths, progress, called } = await host(t);
    const syncs = () => called().filter((call) => call.startsWith('sync ')).length;
    await bringPayload(payload, paths, progress);
    writeFileSync(join(payload, 'payload.yaml'), `${description()} `);
    await bringPayload(payload, paths, progress);
    t.equal(syncs(), 2, 'another payload');
    rmSync(paths.run, { recursive: true });
    await bringPayload(payload, paths, progress);
    t.equal(syncs(), 3, 'another boot');
  },
);
