import t, { type Test } from 'tap';
import { retire } from '../../../../agents/post-reboot/retire.ts';
import { retiringArguments } from '../../../../agents/steps/retire.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { testHost } from '../host/host.ts';
import { journalOf } from '../host/journal.ts';

const UNIT = '/etc/systemd/system/bootkube.service';
const DEFERRED = '/etc/systemd/system/sno-deferred.service';
const STATE = '/var/lib/sno-agents';
const LEDGER = '/etc/sno-agents/leftovers.json';
/** Fingerprint of a deleted key. */
const KEY = 'a'.repeat(64);
/** Files that only the installation needs; the snapshot contains every Secret of the cluster. */
const gone = [
  UNIT,
  LEDGER,
  `${STATE}/restore/etcd-snapshot.db`,
  `${STATE}/live/bootkube.jsonl`,
  `${STATE}/post-reboot/journal.jsonl`,
  `${STATE}/sno-restore/journal.jsonl`,
  `${STATE}/bin/post-reboot`,
  `${STATE}/bin/sno-restore`,
];
/** Files that the node continues to use. */
const stays = [
  `${STATE}/record.json`,
  `${STATE}/bin/sno-agents`,
  `${STATE}/bin/sno-payload`,
  `${STATE}/bin/gather`,
  `${STATE}/payload/payload.yaml`,
  `${STATE}/sno-payload/journal.jsonl`,
  '/etc/sno-agents/cluster.json',
];

/** An installed host at the end of its installation; systemctl records what still existed. */
function installedHost(t: Test) {
  const host = testHost(t);
  for (const path of [...gone, ...stays]) host.write(path);
  host.write(LEDGER, JSON.stringify({ entries: [], goneKeys: [KEY] }));
  host.programs.give(
    'systemctl',
    `case "$1 $2" in
      "start --no-block") [ -e "$ROOT${UNIT}" ] && [ ! -e "$ROOT${LEDGER}" ] ;;
      "disable --no-reload") [ -e "$ROOT${UNIT}" ] && [ ! -e "$ROOT${STATE}/restore" ] && [ ! -e "$ROOT${STATE}/bin/post-reboot" ] && [ ! -e "$ROOT${LEDGER}" ] ;;
      "daemon-reload ") [ ! -e "$ROOT${UNIT}" ] ;;
      *) exit 97 ;;
    esac`,
  );
  return host;
}

t.test('retire', async (t) => {
  t.test('leaves nothing of the installation, the unit last', async (t) => {
    const host = installedHost(t);
    t.equal(await host.holds(retire), false, 'before');
    t.same(await host.run(retire), { kind: 'done' });
    for (const path of gone) t.notOk(host.has(path), path);
    for (const folder of ['restore', 'live', 'post-reboot', 'sno-restore']) {
      t.notOk(host.has(`${STATE}/${folder}`), folder);
    }
    for (const path of stays) t.ok(host.has(path), path);
    const kept = JSON.parse(host.read(`${STATE}/gone-keys.json`));
    t.same(kept, { schemaVersion: 1, goneKeys: [KEY] }, 'the keys can still be searched for');
    t.equal(await host.holds(retire), true, 'after');
    t.same(host.programs.calls(), [
      'systemctl disable --no-reload bootkube.service',
      'systemctl daemon-reload',
    ]);
  });

  t.test('what it deletes is synced to the disk before the unit is disabled', async (t) => {
    const host = installedHost(t);
    const { seen } = await recordFileOperations(t, host.root);
    await host.run(retire);
    const at = (operation: string) => seen.lastIndexOf(operation);
    for (const folder of ['restore', 'live', 'post-reboot', 'sno-restore']) {
      t.ok(at(`rm var/lib/sno-agents/${folder}`) >= 0, folder);
      t.ok(at(`rm var/lib/sno-agents/${folder}`) < at('sync var/lib/sno-agents'), folder);
    }
    t.ok(at('sync etc/sno-agents') > at('rm etc/sno-agents/leftovers.json'));
    t.equal(seen.at(-1), 'sync etc/systemd/system', 'the unit is last');
    t.ok(at('sync var/lib/sno-agents') < at('rm etc/systemd/system/bootkube.service'));
  });

  t.test('deferred manifests are applied from now on, if any', async (t) => {
    const host = installedHost(t);
    host.write(DEFERRED);
    await host.run(retire);
    t.same(host.programs.calls(), [
      'systemctl start --no-block sno-deferred.service',
      'systemctl disable --no-reload bootkube.service',
      'systemctl daemon-reload',
    ]);
    t.ok(host.has(DEFERRED));
  });

  t.test('run twice, or interrupted after the unit is removed', async (t) => {
    const host = installedHost(t);
    await host.run(retire);
    host.programs.forgetCalls();
    t.same(await host.run(retire), { kind: 'done' });
    t.same(host.programs.calls(), ['systemctl daemon-reload'], 'nothing is disabled twice');
  });

  t.test('if systemd fails, the unit is kept, so that the agent is started again', async (t) => {
    const host = installedHost(t);
    host.programs.give('systemctl', 'echo "Connection timed out" >&2; exit 1');
    t.match(await host.failureOf(retire), { kind: 'retry', message: /timed out/ });
    t.ok(host.has(UNIT));
    t.equal(await host.holds(retire), false);
  });
});

t.test('an agent interrupted in retire resumes there', async (t) => {
  const cases: [title: string, record: boolean, steps: string[], args: string[], from: boolean][] =
    [
      ['the record, no journal', true, [], ['run'], true],
      ['the record, a journal of retire alone', true, ['retire'], ['run'], true],
      [
        'the record, a journal that has not come to its end',
        true,
        ['api', 'retire'],
        ['run'],
        false,
      ],
      ['no record yet', false, [], ['run'], false],
      ['another command', true, [], ['status'], false],
      ['a range of steps given by hand', true, [], ['run', '--from', 'clean'], false],
    ];
  for (const [title, record, steps, args, from] of cases) {
    const host = testHost(t);
    if (record) host.write(`${STATE}/record.json`, '{}');
    if (steps.length > 0)
      host.write(
        `${STATE}/post-reboot/journal.jsonl`,
        journalOf(...steps.map((step) => [step, 'started'] as const)),
      );
    const expected = from ? ['run', '--from', 'retire'] : args;
    t.same(await retiringArguments(host.paths, 'post-reboot', args), expected, title);
  }
});
