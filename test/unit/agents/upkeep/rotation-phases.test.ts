import { lstatSync, symlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import {
  differing,
  dropStaged,
  dropUndo,
  type FileChange,
  hasUndo,
  keepUndo,
  readStaged,
  saveStaged,
  writeChanges,
} from '../../../../agents/steps/certificates/changes.ts';
import { concludeRotation } from '../../../../agents/upkeep/rotate/conclude.ts';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { overlap } from '../../../../agents/upkeep/rotate/overlap.ts';
import { trustBoth, trustNew, useNew } from '../../../../agents/upkeep/rotate/phases.ts';
import { addRestart, restartedFor } from '../../../../agents/upkeep/rotate/restarts.ts';
import { stageRotation } from '../../../../agents/upkeep/rotate/stage.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import {
  requestRotation,
  rotationChange,
  rotationFolder,
  type What,
} from '../../../../lib/change/rotation/request.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../../../lib/render/kubernetes/kubelet.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { seal } from '../host/sealed.ts';

const CA = '/etc/kubernetes/pki/etcd/ca.crt';
const GONE = '/etc/sno-agents/deferred.crt';

async function rotating(t: Test, what: What, settings: object = {}) {
  const host = testHost(t);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  await requestRotation(host.paths, { what, restartWorkloads: false });
  return { host, context: await rotateContext(host.paths) };
}

t.test('without a request nothing is rotated', async (t) => {
  const host = testHost(t);
  await t.rejects(rotateContext(host.paths), {
    kind: 'usage',
    message: /no rotation was requested/,
  });
  const request = '/var/lib/sno-agents/sno-rotate/request.json';
  await requestRotation(host.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  const right = JSON.parse(host.read(request));
  for (const what of [{ kind: 'everything' }, { kind: 'authorities', names: [] }]) {
    host.write(request, JSON.stringify({ ...right, what }));
    await t.rejects(rotateContext(host.paths), {
      kind: 'fatal',
      message: /request.json cannot be used/,
    });
  }
});

t.test('interrupted at any moment of a phase, its old files are known until its end', async (t) => {
  const KEY = '/etc/kubernetes/pki/etcd/ca.key';
  const wanted: FileChange[] = [
    { path: KEY, contents: 'the new key', mode: 0o600 },
    { path: CA, contents: 'both', mode: 0o644 },
  ];
  const old = [
    { path: KEY, contents: 'the old key', mode: 0o600 },
    { path: CA, contents: 'old', mode: 0o644 },
  ];
  await killedAtAnyMoment(t, {
    async prepare() {
      const { host } = await rotating(t, { kind: 'encryption' });
      for (const { path, contents, mode } of old) host.write(path, contents, mode);
      return host;
    },
    async run({ paths }) {
      await keepUndo(paths, 'trust-both', wanted);
      await writeChanges(paths, wanted);
    },
    async allowed(host, when) {
      const isOld = old.every(({ path, contents }) => host.read(path) === contents);
      t.ok(isOld || (await hasUndo(host.paths)), `${when}: nothing is replaced before`);
      const { changes } = await keepUndo(host.paths, 'trust-both', wanted);
      t.same(changes, old, `${when}: those of before the first attempt`);
    },
    result: async (host) => ({
      files: wanted.map(({ path }) => [host.read(path), host.mode(path)]),
      undo: (await keepUndo(host.paths, 'trust-both', wanted)).changes,
    }),
    least: 10,
    isDurable: true,
  });
});

t.test('files of a phase, and those before it', async (t) => {
  const { host } = await rotating(t, { kind: 'encryption' });
  const { paths } = host;
  host.write(CA, 'old');
  const wanted: FileChange[] = [
    { path: CA, contents: 'both', mode: 0o644 },
    { path: GONE, contents: 'x', mode: 0o644 },
  ];
  t.same(await differing(paths, wanted), wanted.slice(0, 1), 'a deleted file is not written');
  const before = { phase: 'trust-both', changes: [{ path: CA, contents: 'old', mode: 0o644 }] };
  t.same(await keepUndo(paths, 'trust-both', wanted), before);
  await writeChanges(paths, wanted);
  t.equal(host.read(CA), 'both');
  t.notOk(host.has(GONE));
  t.same(await differing(paths, wanted), []);
  const again = await keepUndo(paths, 'trust-both', wanted);
  t.same(again, before, 'kept over a restart of the agent');
  t.equal(host.mode(`${rotationFolder(paths)}/undo.json`), 0o600);
  t.ok(await hasUndo(paths));
  const next = await keepUndo(paths, 'trust-new', wanted);
  t.same(next.changes, [{ path: CA, contents: 'both', mode: 0o644 }], 'of another phase');
  await saveStaged(paths, {
    schemaVersion: 1,
    id: 'a',
    phases: { 'trust-both': wanted, 'use-new': [], 'trust-new': [] },
    retired: [],
  });
  t.equal(host.mode(`${rotationFolder(paths)}/staged.json`), 0o600);
  t.ok(await readStaged(paths, 'a'));
  t.equal(await readStaged(paths, 'b'), undefined, 'of another request');
  await dropStaged(paths);
  t.same(await namesIn(rotationFolder(paths)), ['request.json']);
});

t.test('on a sealed host, keys that are new or were in use are not on the disk', async (t) => {
  const { host } = await rotating(t, { kind: 'encryption' });
  const { afterBoot } = seal(host);
  const changes = [{ path: CA, contents: 'new key', mode: 0o600 }];
  const phases = { 'trust-both': changes, 'use-new': [], 'trust-new': [] };
  await saveStaged(host.paths, { schemaVersion: 1, id: 'a', phases, retired: [] });
  host.write(CA, 'old key', 0o600);
  await keepUndo(host.paths, 'trust-both', changes);
  for (const name of ['staged', 'undo'])
    t.notMatch(host.read(`${rotationFolder(host.paths)}/${name}.json`), /(new|old) key/, name);
  t.match(await readStaged(host.paths, 'a'), { phases }, 'but are known');
  await writeChanges(host.paths, changes);
  t.equal(afterBoot(CA), 'new key');
});

t.test('what is behind a link is written, and the link stays', async (t) => {
  const { host } = await rotating(t, { kind: 'encryption' });
  const link = '/var/lib/kubelet/pki/kubelet-client-current.pem';
  const target = '/var/lib/kubelet/pki/kubelet-client-2030-01-01.pem';
  host.write(target, 'old', 0o600);
  symlinkSync('kubelet-client-2030-01-01.pem', host.at(link));
  await writeChanges(host.paths, [{ path: link, contents: 'new', mode: 0o600 }]);
  t.equal(host.read(target), 'new');
  t.ok(lstatSync(host.at(link)).isSymbolicLink(), 'for the kubelet to follow');
});

t.test('keys that are not the staged ones are not used', async (t) => {
  const { host, context } = await rotating(t, { kind: 'encryption' });
  const phases = { 'trust-both': [], 'use-new': [], 'trust-new': [] };
  await saveStaged(host.paths, { schemaVersion: 1, id: 'another', phases, retired: [] });
  await t.rejects(trustNew.run(context, host.progress()), {
    kind: 'fatal',
    message: /staged\.json cannot be used; expected the keys and certificates of the rotation/,
  });
});

t.test('a rotation begins when no backup is made and no certificate renewed', async (t) => {
  const { host, context } = await rotating(t, { kind: 'encryption' });
  for (const agent of ['sno-backup', 'sno-renew']) {
    using _lock = await lockAgent(agent, host.root);
    const outcome = await stageRotation.run(context, host.progress());
    t.match(outcome, { kind: 'not-yet', reason: `${agent} is running` });
  }
});

t.test('conclude records, deletes what was staged, and can be killed in between', async (t) => {
  const { host, context } = await rotating(t, { kind: 'encryption' });
  const { paths } = host;
  const { id } = context.request;
  const changes = [
    { path: '/etc/kubernetes/kube-apiserver/encryption.yaml', contents: 'x', mode: 0o600 },
  ];
  const phases = { 'trust-both': changes, 'use-new': changes, 'trust-new': changes };
  await saveStaged(paths, { schemaVersion: 1, id, phases, retired: [] });
  for (const step of [trustBoth, useNew, trustNew]) {
    t.equal(await step.holds(context, host.progress()), true, 'the file does not exist here');
    await keepUndo(paths, 'trust-both', changes);
    t.equal(await step.holds(context, host.progress()), false, 'a phase has begun and not ended');
    await dropUndo(paths);
  }
  await addRestart(paths, id, 'use-new', 'kubelet');
  await addRestart(paths, id, 'trust-new', 'etcd');
  await addRestart(paths, id, 'trust-new', 'etcd');
  t.equal(await concludeRotation.holds(context, host.progress()), false);
  await concludeRotation.run(context, host.progress());
  t.match(await rotationChange.last(paths), {
    ...{ id, requested: context.request.at, what: { kind: 'encryption' } },
  });
  t.same((await rotationChange.last(paths))?.restarted, ['etcd', 'kubelet'], 'what was restarted');
  t.same(await namesIn(rotationFolder(paths)), ['last.json']);
  t.equal(await concludeRotation.holds(context, host.progress()), true);
  // As if the request had not been deleted yet.
  t.equal(await stageRotation.holds(context, host.progress()), true);
  t.equal(await trustNew.holds(context, host.progress()), true);
  await concludeRotation.run(context, host.progress());
  t.match(await rotationChange.last(paths), { restarted: ['etcd', 'kubelet'] }, 'the record stays');
  await addRestart(paths, id, 'use-new', 'kubelet');
  await requestRotation(paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  const next = await rotateContext(paths);
  t.equal(await stageRotation.holds(next, host.progress()), false, 'another one is staged anew');
  t.equal(await trustNew.holds(next, host.progress()), false);
  t.same(await restartedFor(paths, next.request.id), [], 'and has restarted nothing');
});

t.test('overlap', async (t) => {
  t.test('is as long as the settings say, also over a restart', async (t) => {
    const cases: [what: What, settings: object][] = [
      [{ kind: 'authorities', names: ['legacy-unknown'] }, { rotateOverlapMs: 3_600_000 }],
      [{ kind: 'service-account' }, { rotateTokensMs: 3_600_000 }],
    ];
    for (const [what, settings] of cases) {
      const { host, context } = await rotating(t, what, settings);
      const begun = `${rotationFolder(host.paths)}/overlap.json`;
      const waits = await host.stoppedAt(begun, (progress) => overlap.run(context, progress));
      t.match(waits, { cause: { message: 'told to stop' } });
      const since = new Date(Date.now() - 3_600_000).toISOString();
      host.write(begun, JSON.stringify({ id: context.request.id, since }));
      t.same(await overlap.run(context, host.progress()), { kind: 'done' });
    }
  });

  t.test('a clock that is set ahead does not end it', async (t) => {
    const what: What = { kind: 'service-account' };
    const { host, context } = await rotating(t, what, { rotateTokensMs: 3_600_000 });
    const begun = `${rotationFolder(host.paths)}/overlap.json`;
    await host.stoppedAt(begun, (progress) => overlap.run(context, progress));
    const { since, ...rest } = JSON.parse(host.read(begun));
    const earlier = new Date(Date.parse(since) - 3_600_000).toISOString();
    host.write(begun, JSON.stringify({ ...rest, since: earlier }));
    const { name, leaves, touches } = overlap;
    const step = {
      ...{ name, leaves, touches, input: () => '', holds: async () => false },
      run: (_: unknown, progress: Progress) => overlap.run(context, progress),
    };
    t.ok(await host.waitsFor(step, /stop using the old one \(3\d\d\d s\)/), 'in the same boot');
    host.lines.length = 0;
    host.write(begun, JSON.stringify({ ...rest, up: rest.up - 1800, since }));
    t.ok(await host.waitsFor(step, /old one \(1[78]\d\d s\)/), 'half of it has passed');
    host.write(begun, JSON.stringify({ ...rest, up: rest.up - 3600, since }));
    t.same(await overlap.run(context, host.progress()), { kind: 'done' }, 'all of it');
    host.write(begun, JSON.stringify({ ...rest, boot: 'another', since: earlier }));
    t.same(await overlap.run(context, host.progress()), { kind: 'done' }, 'after a reboot');
    host.write(begun, JSON.stringify({ ...rest, boot: 'another', since }));
    t.ok(await host.waitsFor(step, /stop using the old one/), 'a reboot alone does not end it');
    host.lines.length = 0;
    const later = new Date(Date.parse(since) + 3_600_000).toISOString();
    host.write(begun, JSON.stringify({ ...rest, boot: 'another', since: later }));
    t.ok(await host.waitsFor(step, /old one \(3600 s\)/), 'a clock that was set back: not longer');
    host.lines.length = 0;
    const other = { ...rest, id: 'another', boot: 'another', since: earlier };
    host.write(begun, JSON.stringify(other));
    t.ok(await host.waitsFor(step, /stop using the old one/), 'each rotation has its own');
  });

  t.test('there is none for the encryption key', async (t) => {
    const { host, context } = await rotating(
      t,
      { kind: 'encryption' },
      { rotateOverlapMs: 3_600_000 },
    );
    t.same(await overlap.run(context, host.progress()), { kind: 'done' });
  });

  /** The CA of kubelets is the next one; which of the two has signed the kubelet's certificate is not written yet. */
  const rotatingKubelet = async (t: Test, rotateOverlapMs: number) => {
    const what: What = { kind: 'authorities', names: ['kubelet-client'] };
    const it = await rotating(t, what, { rotateOverlapMs });
    const [old, next] = [await createAuthority('old'), await createAuthority('next')];
    const profile = { subject: { commonName: 'system:node:edge-0' }, usage: 'client' } as const;
    it.host.write(authorityPaths('kubelet-client').certificate, next.certificate);
    return { ...it, old, next, profile };
  };

  t.test('it does not end while the kubelet has a certificate of the old CA', async (t) => {
    const { host, context, old, next, profile } = await rotatingKubelet(t, 1);
    host.write(kubeletPaths.clientPair, (await issueLeaf(old, profile)).certificate);
    const { id } = context.request;
    const changes = [{ path: kubeletPaths.clientPair, contents: 'staged\n', mode: 0o600 }];
    const phases = { 'trust-both': [], 'use-new': changes, 'trust-new': [] };
    await saveStaged(host.paths, { schemaVersion: 1, id, phases, retired: [] });
    // Also at a start after its end.
    const since = new Date(Date.now() - 3_600_000).toISOString();
    host.write(`${rotationFolder(host.paths)}/overlap.json`, JSON.stringify({ id, since }));
    await t.rejects(overlap.run(context, host.progress()), {
      kind: 'retry',
      message: /kubelet-client is still a certificate of the old kubelet-client CA/,
    });
    t.equal(await useNew.holds(context, host.progress()), false, 'the next start replaces it');
    host.write(kubeletPaths.clientPair, (await issueLeaf(next, profile)).certificate);
    // Of an authority that stays: whoever has signed it.
    host.write(kubeletPaths.servingPair, (await issueLeaf(old, profile)).certificate);
    t.same(await overlap.run(context, host.progress()), { kind: 'done' });
  });

  t.test('a certificate that the kubelet rotates meanwhile is looked at afterwards', async (t) => {
    const { host, context, old, next, profile } = await rotatingKubelet(t, 500);
    const [before, after] = [await issueLeaf(old, profile), await issueLeaf(next, profile)];
    host.write(kubeletPaths.clientPair, before.certificate);
    const rotated = host
      .said(/stop using the old one/)
      .then(() => host.write(kubeletPaths.clientPair, after.certificate));
    t.same(await overlap.run(context, host.progress()), { kind: 'done' });
    await rotated;
  });
});
