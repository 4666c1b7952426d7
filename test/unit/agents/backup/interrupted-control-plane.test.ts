/** The steps of a restore that stop the control plane, interrupted before each of their effects. */
import { renameSync } from 'node:fs';
import t from 'tap';
import { startRestored } from '../../../../agents/upkeep/backup/restore/start.ts';
import { stopForRestore } from '../../../../agents/upkeep/backup/restore/stop.ts';
import { undo } from '../../../../agents/upkeep/backup/restore/undo.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { recordFailure } from '../../../../lib/change/change.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { fakeApi } from '../host/api.ts';
import { STOPPED } from '../host/kubelet-unit.ts';
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
import {
  DISCARDED,
  databases,
  filesIn,
  holdsFormer,
  isRunning,
  lost,
  MOVED,
  movedFile,
  REBUILT,
  SAVED,
} from './interrupted-host.ts';

t.test('stop, interrupted: no manifest is lost, and no kubelet sees half of them', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => restoringHost(t),
    run: ({ run }) => run(stopForRestore),
    allowed({ host }, when) {
      t.strictSame(lost(host), [], when);
      const isWhole = COMPONENTS.every((name) => host.has(podFile(name)));
      t.ok(isWhole || !isRunning(host), `${when}: the kubelet is stopped first`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(stopForRestore),
      moved: filesIn(host, MOVED),
      placed: filesIn(host, '/etc/kubernetes/manifests'),
    }),
    least: 30,
    isDurable: true,
  });
});

t.test(
  'start, interrupted: leaders from before are forgotten, once the API is ready',
  async (t) => {
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    await killedAtAnyMoment(t, {
      async prepare() {
        const { host, ...others } = await restoringHost(t);
        for (const name of COMPONENTS) {
          host.write(movedFile(name), podText(name), 0o600);
          host.remove(podFile(name));
          host.write(`${STOPPED}id-of-${name}`);
        }
        const { requests } = await fakeApi(t, host, {
          'GET /readyz': () => ({}),
          [`DELETE ${lease}/kube-controller-manager`]: () => ({}),
          [`DELETE ${lease}/kube-scheduler`]: () => ({}),
        });
        return { host, requests, ...others };
      },
      run: ({ run }) => run(startRestored),
      allowed({ host }, when) {
        t.strictSame(lost(host), [], when);
      },
      result: async ({ host, holds, requests }) => ({
        holds: await holds(startRestored),
        placed: filesIn(host, '/etc/kubernetes/manifests').length,
        modes: COMPONENTS.map((name) => host.mode(podFile(name))),
        isRunning: isRunning(host),
        asked: requests.slice(-3),
      }),
      least: 12,
    });
  },
);

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
      await recordFailure(restoreChange, host.paths, failureData(failure));
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
