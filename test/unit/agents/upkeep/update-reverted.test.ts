/** A whole update that does not settle, by both agents and their journals, until the host is as before. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { runTrial } from '../../../../agents/upkeep/trial/main.ts';
import { armUpdate } from '../../../../agents/upkeep/update/arm.ts';
import { updateContextOf } from '../../../../agents/upkeep/update/context.ts';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { prepare } from '../../../../agents/upkeep/update/prepare.ts';
import { stageUpdate } from '../../../../agents/upkeep/update/stage.ts';
import { switchOver } from '../../../../agents/upkeep/update/switch.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import {
  readLast,
  readTrial,
  recordReverting,
  writeTrial,
} from '../../../../lib/engine/trial/store.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { snapshot } from '../../engine/trial/changed-host.ts';
import { cluster } from '../host/cluster.ts';
import type { TestHost } from '../host/host.ts';
import { BACKUPS, EXECUTABLE, OWN_BACKUP, program, SOURCE, updating } from './updating-host.ts';

const JOURNAL = '/var/lib/sno-agents/sno-update/journal.jsonl';
const SETTINGS = { updateSettleMs: 300, retryMs: 20 };

/** As after a restart of the host: the boots of the record are earlier ones. */
async function restarted({ paths }: TestHost, count: number): Promise<void> {
  const trial = await readTrial(paths);
  if (trial === undefined) throw new Error('nothing is on trial');
  const boots = Array.from({ length: count }, (_, index) => ({ boot: `boot ${index}`, up: 10 }));
  await writeTrial(paths, { ...trial, boots });
}

/** What the update changes, without its source and what the agents keep for themselves. */
const changed = (host: TestHost) =>
  Object.fromEntries(
    Object.entries(snapshot(host)).filter(
      ([path]) => !/^mnt\/|^var\/log\/|sno-update\/|^calls$/.test(path),
    ),
  );

async function hostToUpdate(t: Parameters<typeof updating>[0]) {
  const { host } = await updating(t);
  const { installation: _, ...description } = cluster;
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(description), 0o600);
  host.write('/etc/sno-agents/settings.json', JSON.stringify(SETTINGS));
  // The restart of the host begins with the end of every process.
  host.programs.give(
    'systemctl',
    'case "$*" in reboot*|"start --no-block sno-trial.service") kill -TERM $PPID ;; esac',
  );
  return host;
}

/** Whether the step settle has begun that often. */
const isSettling = (host: TestHost, attempts: number): boolean =>
  host.has(JOURNAL) &&
  Array.from(host.read(JOURNAL).matchAll(/"step":"settle".*"event":"started"/g)).length >= attempts;

const silent = { write: () => undefined };
const update = (host: TestHost) => runUpdate(host.paths, ['run'], silent);
const trial = (host: TestHost) => runTrial(host.paths, ['run'], silent);

t.test(
  'an update that does not settle is taken back at the next boot, and that is said once',
  async (t) => {
    const host = await hostToUpdate(t);
    const before = changed(host);
    t.equal(await update(host), 1, 'told to stop by the restart');
    t.equal(host.read(EXECUTABLE), program(), 'the new one was in use');
    t.match(await readTrial(host.paths), { reverting: { kind: 'deadline' } });

    await restarted(host, 1);
    t.equal(await trial(host), 4);
    t.same(changed(host), before);
    t.equal(await update(host), 4);
    t.match(await updateChange.last(host.paths), {
      outcome: 'reverted',
      failure: { kind: 'deadline' },
    });
    t.equal(await updateChange.read(host.paths), undefined);
    t.same(changed(host), before);
    t.equal(await update(host), 2, 'nothing is left to do');
  },
);

t.test('another minor version of etcd is taken back with the database', async (t) => {
  const { host, context } = await updating(t);
  const request = { ...context.request, before: { kubernetes: 'v1.34.5', etcd: 'v3.5.21' } };
  writeBackup(host.at(`${BACKUPS}/${OWN_BACKUP}`));
  for (const step of [stageUpdate, prepare, armUpdate, switchOver])
    await step.run(updateContextOf(context, request, []), host.progress());
  await recordReverting(host.paths, { code: 'deadline', kind: 'deadline', what: 'no rest' });
  t.equal(await restoreChange.read(host.paths), undefined, 'not under a running control plane');
  await restarted(host, 1);
  t.equal(await trial(host), 4);
  t.equal(host.read(EXECUTABLE), 'the old executable');
  t.match(await restoreChange.read(host.paths), { backup: OWN_BACKUP });
});

t.test('power cuts while it settles: it continues once, and is taken back then', async (t) => {
  const host = await hostToUpdate(t);
  const before = changed(host);
  host.write(
    '/etc/sno-agents/settings.json',
    JSON.stringify({ ...SETTINGS, updateSettleMs: 600_000 }),
  );
  const signal = AbortSignal.timeout(120_000);
  const settling = async (attempts: number) => {
    const running = update(host);
    while (!isSettling(host, attempts)) await sleep(10, undefined, { signal });
    process.kill(process.pid, 'SIGTERM');
    return running;
  };
  t.equal(await settling(1), 1);
  host.remove(SOURCE);

  await restarted(host, 1);
  t.equal(await trial(host), 0, 'the first restart is allowed');
  t.notSame(changed(host), before);
  t.equal(await settling(2), 1, 'without its source, which is no longer needed');

  await restarted(host, 2);
  t.equal(await trial(host), 4);
  t.match(await readLast(host.paths), { outcome: 'reverted', reason: { found: '2 restarts' } });
  t.equal(await update(host), 4);
  t.same(changed(host), {
    ...before,
    'etc/sno-agents/settings.json': changed(host)['etc/sno-agents/settings.json'],
  });
});
