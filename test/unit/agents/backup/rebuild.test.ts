/** What a restore needs before it begins: room on the disk, and each key in the backup. */
import t from 'tap';
import { rebuild } from '../../../../agents/steps/restore/rebuild.ts';
import { replace, savedKey } from '../../../../agents/steps/restore/replace.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { diskOf } from '../../host/disk-of.ts';
import { ENCRYPTION, providers, restoringHost } from './backup-host.ts';

const REBUILT = '/var/lib/etcd.rebuilt';

t.test('on a disk without room for the database and its log, nothing is begun', async (t) => {
  const { host, run } = await restoringHost(t);
  const need = 'a snapshot'.length + 64 * 2 ** 20;
  let free = need - 1;
  diskOf(t, () => ({ free }));
  t.match(await thrownBy(run(rebuild)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: new RegExp(`expected ${need} bytes; found ${free} bytes free`),
  });
  t.notOk(host.has(REBUILT));
  free = need;
  t.match(await run(rebuild), { kind: 'done' });
});

t.test('a key that the backup does not have is said', async (t) => {
  const { context } = await restoringHost(t);
  t.match(await thrownBy(savedKey(context, 'host/none', '/none')), {
    kind: 'fatal',
    code: 'backup-unusable',
    message: 'the backup has no host/none',
  });
});

t.test('an encryption configuration that is gone is that of the backup', async (t) => {
  const { host, run, holds } = await restoringHost(t);
  host.remove(ENCRYPTION);
  t.equal(await holds(rebuild), false);
  await run(rebuild);
  t.equal(await holds(rebuild), true);
  await run(replace);
  t.equal(await holds(rebuild), true, 'what is in use is not rebuilt again');
  t.equal(host.read(ENCRYPTION), providers('present'));
  t.equal(host.mode(ENCRYPTION), 0o600);
});
