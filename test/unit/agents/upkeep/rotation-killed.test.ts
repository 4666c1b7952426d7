/** The beginning of a rotation, a phase and the end, which may be killed at any moment. */
import t, { type Test } from 'tap';
import { hasUndo, readStaged, saveStaged } from '../../../../agents/steps/certificates/changes.ts';
import { applyPhase } from '../../../../agents/upkeep/rotate/apply.ts';
import { cancelRotation, concludeRotation } from '../../../../agents/upkeep/rotate/conclude.ts';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { overlap } from '../../../../agents/upkeep/rotate/overlap.ts';
import { rotatePlan } from '../../../../agents/upkeep/rotate/plan.ts';
import { addRestart, restartedFor } from '../../../../agents/upkeep/rotate/restarts.ts';
import { stageRotation } from '../../../../agents/upkeep/rotate/stage.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import {
  requestRotation,
  rotationChange,
  rotationFolder,
  type What,
} from '../../../../lib/change/rotation/request.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { encryptionConfigPath } from '../../../../lib/render/kubernetes/encryption.ts';
import { serviceAccount } from '../../../../lib/render/kubernetes/service-account.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { rendered } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { requested, rotating } from './rotating-host.ts';

const staticPods = '/etc/kubernetes/manifests';

t.test('for another request, each step of a rotation is done anew', async (t) => {
  const { context } = await requested(t);
  for (const { name, input } of rotatePlan(defaultSettings).steps) {
    t.equal(input(context), context.request.id, name);
  }
});

t.test('stage: what is asked for, and nothing of the host is changed', async (t) => {
  const { certificate, key } = authorityPaths('legacy-unknown');
  const cases: [what: What, useNew: string[]][] = [
    [{ kind: 'authorities', names: ['legacy-unknown'] }, [key, certificate]],
    [{ kind: 'service-account' }, [serviceAccount.privateKey]],
    [{ kind: 'encryption' }, [encryptionConfigPath]],
  ];
  for (const [what, useNew] of cases) {
    const { host, context } = await requested(t, {}, what);
    t.equal(await stageRotation.holds(context, host.progress()), false);
    t.same(await stageRotation.run(context, host.progress()), { kind: 'done' });
    t.equal(await stageRotation.holds(context, host.progress()), true);
    const staged = await readStaged(host.paths, context.request.id);
    t.same(
      staged?.phases['use-new'].map(({ path }) => path),
      useNew,
      what.kind,
    );
    for (const { path, contents } of rendered.files) {
      if (host.has(path)) t.equal(host.read(path), contents, path);
    }
  }
});

t.test('stage: a control plane that is not whole, or not ready, is not changed', async (t) => {
  const { host, context, kubelet } = await requested(t, { rotatePodMs: 1 });
  kubelet.isReady = false;
  await t.rejects(stageRotation.run(context, host.progress()), {
    kind: 'deadline',
    message: /kube-scheduler is not ready/,
  });
  host.remove(`${staticPods}/kube-scheduler.yaml`);
  await t.rejects(stageRotation.run(context, host.progress()), {
    kind: 'fatal',
    message: /the host has no static pod of kube-scheduler/,
  });
  t.equal(await readStaged(host.paths, context.request.id), undefined);
});

t.test('stage: interrupted at any moment, nothing or everything is staged', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => requested(t),
    run: ({ host, context }) => stageRotation.run(context, host.progress()),
    result: async ({ host, context }) => ({
      staged: (await readStaged(host.paths, context.request.id))?.phases['use-new'].length,
      mode: host.mode(`${rotationFolder(host.paths)}/staged.json`),
      present: host.read(encryptionConfigPath),
    }),
    least: 6,
    isDurable: true,
  });
});

/** Without static pods, which take long: a phase that changes a file of the kubelet. */
async function kubeletPhase(t: Test) {
  const host = testHost(t);
  const path = '/etc/kubernetes/pki/kubelet/api-ca.crt';
  host.write(path, 'old');
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.programs.give('systemctl', `cp "$ROOT${path}" "$ROOT/read"`);
  await requestRotation(host.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  const context = await rotateContext(host.paths);
  const { id } = context.request;
  const changes = [{ path, contents: 'new', mode: 0o600 }];
  const phases = { 'trust-both': changes, 'use-new': changes, 'trust-new': changes };
  await saveStaged(host.paths, { schemaVersion: 1, id, phases, retired: [] });
  return {
    ...{ host, context },
    /** The file, and what the kubelet has read of it when it was restarted. */
    files: () => [path, '/read'].map((each) => (host.has(each) ? host.read(each) : 'none')),
    mode: () => host.mode(path),
    restarted: () => restartedFor(host.paths, id),
    isStaged: async () => (await readStaged(host.paths, id)) !== undefined,
  };
}

for (const [kept, phase] of [
  ['new', 'use-new'],
  ['old', 'use-new'],
  ['old', 'trust-both'],
] as const) {
  t.test(`${phase}: interrupted at any moment, the kubelet has the ${kept} file`, async (t) => {
    const verify = async () => {
      if (kept === 'old') throw new Failure('fatal', 'nobody accepts it');
    };
    await killedAtAnyMoment(t, {
      prepare: () => kubeletPhase(t),
      async run({ host, context, isStaged }) {
        // Undone, and not all of it deleted.
        if (!(await isStaged())) return cancelRotation(host.paths);
        await applyPhase(context, phase, verify, host.progress()).catch((error: unknown) => {
          if (!(error instanceof Failure) || error.code !== 'rotation-rolled-back') throw error;
          t.match(error, { cause: { what: 'nobody accepts it' } });
        });
      },
      async allowed({ host, files, restarted, isStaged }, when) {
        const [file, read] = files();
        const isKnown = read === 'none' || !(await isStaged()) || (await restarted()).length > 0;
        t.ok(isKnown, `${when}: a restart is recorded before`);
        const isEnd = file === kept && read === kept;
        const isBeginning = file === 'old' && read === 'none';
        t.ok(isEnd || isBeginning || (await hasUndo(host.paths)), `${when}: it goes on`);
      },
      result: async ({ host, files, mode, restarted }) => ({
        ...{ files: files(), mode: mode(), restarted: await restarted() },
        isOpen: await hasUndo(host.paths),
        isUnderWay: host.has(rotationChange.requestPath(host.paths)),
      }),
      least: 20,
      isDurable: true,
    });
  });
}

t.test('conclude: interrupted at any moment, it is recorded once', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await rotating(t);
      const { host, context } = it;
      const { id } = context.request;
      await addRestart(host.paths, id, 'use-new', 'kubelet');
      await addRestart(host.paths, id, 'trust-new', 'etcd');
      await overlap.run(context, host.progress());
      host.write(`${rotationFolder(host.paths)}/undo.json`, '{}');
      return it;
    },
    run: ({ host, context }) => concludeRotation.run(context, host.progress()),
    async allowed({ host, context }, when) {
      const isRecorded = (await rotationChange.last(host.paths))?.id === context.request.id;
      const names = await namesIn(rotationFolder(host.paths));
      const left = names.filter((name) => /^(staged|undo|overlap|restarted)\.json$/.test(name));
      const isUnderWay = (await rotationChange.read(host.paths)) !== undefined;
      t.ok(isUnderWay || left.length === 0, `${when}: the request is deleted last`);
      const isTriedAgain = left.includes('staged.json') && !left.includes('undo.json');
      t.notOk(isTriedAgain, `${when}: what has failed is known to have failed`);
      t.ok(isRecorded || left.length === 4, `${when}: the record is written first`);
    },
    result: async ({ host, context }) => {
      const record = await rotationChange.last(host.paths);
      return {
        ...{ isOwn: record?.id === context.request.id, what: record?.what },
        ...{ requested: record?.requested === context.request.at, restarted: record?.restarted },
        left: (await namesIn(rotationFolder(host.paths))).filter((name) => !name.startsWith('.')),
        mode: host.mode(`${rotationFolder(host.paths)}/last.json`),
        isUnderWay: host.has(rotationChange.requestPath(host.paths)),
      };
    },
    least: 12,
    isDurable: true,
  });
});
