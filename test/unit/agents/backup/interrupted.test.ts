/** The steps of a restore, interrupted before each of their effects. */
import { readdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { rebuild } from '../../../../agents/steps/restore/rebuild.ts';
import { replace } from '../../../../agents/steps/restore/replace.ts';
import { conclude } from '../../../../agents/upkeep/backup/restore/conclude.ts';
import { stop } from '../../../../agents/upkeep/backup/restore/stop.ts';
import { undo } from '../../../../agents/upkeep/backup/restore/undo.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { readRequest, readResult, recordFailure } from '../../../../lib/change/restore/request.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { KUBELET_ACTIVE, STOPPED } from '../host/kubelet-unit.ts';
import {
  COMPONENTS,
  database,
  ENCRYPTION,
  podFile,
  podText,
  providers,
  REPLACED,
  restoringHost,
} from './backup-host.ts';

const KEY = '/etc/kubernetes/pki/ca/etcd/ca.key';
const STATE = '/var/lib/sno-agents/sno-backup-restore';
const MOVED = `${STATE}/manifests`;
const SAVED = `${STATE}/encryption.yaml`;
const REBUILT = '/var/lib/etcd.rebuilt';
const DISCARDED = '/var/lib/etcd.discarded';
const FORMER = 'the present database';

const isRunning = (host: TestHost): boolean => host.has(KUBELET_ACTIVE);
const databases = (host: TestHost): string[] =>
  readdirSync(host.at('/var/lib')).filter((name) => name.startsWith('etcd'));
/** Name, text and mode of files that programs look at: an interrupted write leaves hidden ones. */
const filesIn = (host: TestHost, folder: string) =>
  readdirSync(host.at(folder))
    .filter((name) => !name.startsWith('.'))
    .map((name) => [name, host.read(`${folder}/${name}`), host.mode(`${folder}/${name}`)]);
const movedFile = (name: string) => podFile(name).replace(dirname(podFile(name)), MOVED);
/** Components without a manifest, which nothing would start again. */
const lost = (host: TestHost) =>
  COMPONENTS.filter((name) => !host.has(podFile(name)) && !host.has(movedFile(name)));
const holdsFormer = (host: TestHost, folder: string): boolean =>
  host.has(folder) && host.read(`${folder}/member/snap/db`) === FORMER;

/** A host whose Secrets are encrypted with another key since the backup, and that lacks a key that the backup has. */
async function changedSince(t: Test) {
  const restoring = await restoringHost(t);
  writeBackup(restoring.folder, {
    [`host${ENCRYPTION}`]: providers('older'),
    [`host${KEY}`]: 'the key of etcd',
  });
  return restoring;
}

t.test('rebuild, interrupted: the database in use is not touched', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => restoringHost(t),
    run: ({ run }) => run(rebuild),
    allowed({ host }, when) {
      t.ok(holdsFormer(host, '/var/lib/etcd') && isRunning(host), when);
      t.ok(!host.has(REBUILT) || host.has(`${REBUILT}/member/restored.json`), `${when}: whole`);
    },
    result: ({ host }) => ({
      databases: databases(host),
      rebuilt: host.read(`${REBUILT}/member/snap/db`),
    }),
    least: 8,
    isDurable: true,
  });
});

t.test('stop, interrupted: no manifest is lost, and no kubelet sees half of them', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => restoringHost(t),
    run: ({ run }) => run(stop),
    allowed({ host }, when) {
      t.strictSame(lost(host), [], when);
      const isWhole = COMPONENTS.every((name) => host.has(podFile(name)));
      t.ok(isWhole || !isRunning(host), `${when}: the kubelet is stopped first`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(stop),
      moved: filesIn(host, MOVED),
      placed: filesIn(host, '/etc/kubernetes/manifests'),
    }),
    least: 30,
    isDurable: true,
  });
});

t.test('replace, interrupted: a database from before is never lost nor overwritten', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await changedSince(t);
      it.host.write(`${REBUILT}/member/snap/db`, 'a snapshot');
      return it;
    },
    run: ({ run }) => run(replace),
    allowed({ host }, when) {
      t.ok(holdsFormer(host, REPLACED) || holdsFormer(host, '/var/lib/etcd'), when);
      t.match(host.read(ENCRYPTION), /present/, `${when}: the Secrets of now can be read`);
      const isAdded = host.read(ENCRYPTION) !== providers('present');
      t.ok(!isAdded || host.has(SAVED), `${when}: the configuration from before is kept`);
      const isRestored = host.has('/var/lib/etcd') && !holdsFormer(host, '/var/lib/etcd');
      t.ok(!isRestored || (isAdded && host.has(KEY)), `${when}: never without its keys`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(replace),
      databases: databases(host),
      database: database(host),
      encryption: [host.read(ENCRYPTION), host.mode(ENCRYPTION)],
      saved: [host.read(SAVED), host.mode(SAVED)],
      key: [host.read(KEY), host.mode(KEY), host.mode(dirname(KEY))],
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('undo, interrupted: no etcd starts with another database than that before', async (t) => {
  await killedAtAnyMoment(t, {
    /** The control plane had begun to start; an earlier restore was killed while it was undone. */
    async prepare() {
      const { host, ...others } = await restoringHost(t);
      renameSync(host.at('/var/lib/etcd'), host.at(REPLACED));
      for (const name of COMPONENTS) {
        host.write(movedFile(name), podText(name), 0o600);
        if (name === 'etcd') continue;
        host.remove(podFile(name));
        host.write(`${STOPPED}id-of-${name}`);
      }
      host.write('/var/lib/etcd/member/snap/db', 'a snapshot');
      for (const folder of [REBUILT, DISCARDED]) host.write(`${folder}/member/snap/db`, 'x');
      host.write(SAVED, providers('present'), 0o600);
      host.write(ENCRYPTION, providers('present', 'older'), 0o600);
      const failure = new Failure('fatal', 'broken by the test');
      await recordFailure(host.paths, failureData(failure));
      return { host, ...others };
    },
    run: ({ run }) => run(undo),
    allowed({ host }, when) {
      t.ok(holdsFormer(host, REPLACED) || holdsFormer(host, '/var/lib/etcd'), when);
      t.strictSame(lost(host), [], when);
      const isBegun = !host.has(REPLACED);
      const isPutBack = holdsFormer(host, '/var/lib/etcd') && !host.has(SAVED);
      t.ok(!isRunning(host) || !isBegun || isPutBack, `${when}: nothing runs on a half of it`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(undo),
      databases: databases(host),
      database: database(host),
      encryption: [host.read(ENCRYPTION), host.mode(ENCRYPTION)],
      isSaved: host.has(SAVED),
      isRunning: isRunning(host),
      placed: filesIn(host, '/etc/kubernetes/manifests'),
    }),
    least: 30,
    isDurable: true,
  });
});

t.test('conclude, interrupted: whoever waits for the end finds its result', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const { host, ...others } = await restoringHost(t, { settings: { restoreKeepCount: 1 } });
      for (const day of [1, 2]) host.write(`/var/lib/etcd.replaced-2030010${day}T000000Z/x`);
      for (const left of [movedFile('etcd'), SAVED, `${STATE}/restarts.json`]) host.write(left);
      return { host, ...others };
    },
    // The unit starts only while there is a request.
    run: async ({ run, holds }) => void ((await holds(conclude)) || (await run(conclude))),
    async allowed({ context: { paths } }, when) {
      const hasEnded = (await readRequest(paths)) === undefined;
      t.ok(!hasEnded || (await readResult(paths)) !== undefined, when);
    },
    result: async ({ host, context }) => ({
      databases: databases(host),
      state: filesIn(host, STATE),
      hasEnded: (await readRequest(context.paths)) === undefined,
    }),
    least: 8,
    isDurable: true,
  });
});
