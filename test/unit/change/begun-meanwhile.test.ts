/** A change that another one has overtaken while a person was asked: two at once would replace the same files. */
import t from 'tap';
import { requestRestore } from '../../../agents/upkeep/backup/restore/command.ts';
import { beginChange } from '../../../lib/change/exclusion.ts';
import { restoreChange } from '../../../lib/change/restore/request.ts';
import { updateChange } from '../../../lib/change/update/request.ts';
import { NAME, restoringHost } from '../agents/backup/backup-host.ts';
import { cluster } from '../agents/host/cluster.ts';
import { testHost } from '../agents/host/host.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';

t.test(
  'a restore is not requested beside an update that came while it was announced',
  async (t) => {
    const { host } = await restoringHost(t);
    await restoreChange.end(host.paths, (it) => it);
    host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
    host.programs.give('systemctl', ':');
    const update = updateChange.requestPath(host.paths);
    // The command announces the restore between its judgement and its request.
    const announce = () => host.write(update.slice(host.paths.root.length), '{}');
    const options = { from: NAME, isConfirmed: true, isWaited: false };
    const failure = await thrownBy(requestRestore(host.paths, options, announce));
    t.match(failure, { kind: 'usage', details: { fix: /sno-update status/ } });
    t.equal(await restoreChange.read(host.paths), undefined, 'nothing is requested');
    t.same(host.programs.calls('systemctl'), [], 'and nothing started');
  },
);

t.test('of several at the same moment, one is written', async (t) => {
  const host = testHost(t);
  const begin = (backup: string) =>
    beginChange(host.paths, () =>
      restoreChange.write(host.paths, {
        ...{ schemaVersion: 1, backup, requestedAt: '2030-01-01T00:00:00Z' },
      }),
    );
  const results = await Promise.allSettled(['a', 'b', 'c'].map(begin));
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  t.equal(refused.length, 2);
  for (const each of refused) t.match(each, { kind: 'usage' });
  t.match(await restoreChange.read(host.paths), { schemaVersion: 1 });
});

t.test('until a request is written, there is no other one', async (t) => {
  const { paths } = testHost(t);
  const written = Promise.withResolvers<void>();
  const writing = Promise.withResolvers<void>();
  const begun = beginChange(paths, () => {
    writing.resolve();
    return written.promise;
  });
  await writing.promise;
  t.match(await thrownBy(beginChange(paths, async () => 'another')), { code: 'change-under-way' });
  written.resolve();
  await begun;
  t.equal(await beginChange(paths, async () => 'the next'), 'the next');
});
