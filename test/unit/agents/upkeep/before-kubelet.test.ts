import { existsSync } from 'node:fs';
import t from 'tap';
import { futurePodsRemoved } from '../../../../agents/upkeep/certificates/future-pods.ts';
import { requestRenewal } from '../../../../agents/upkeep/certificates/request-renewal.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';

const DAY_MS = 86_400_000;
const FLAG = '/run/sno-agents/renewal-due';
const SERVING = '/var/lib/kubelet/pki/kubelet-server-current.pem';

t.test('future-pods', async (t) => {
  const nanoseconds = (days: number) => `${BigInt(Date.now() + days * DAY_MS) * 1_000_000n}`;
  const sandbox = (id: string, state: string, days: number) => ({
    ...{ id, state, createdAt: nanoseconds(days) },
    metadata: { name: id, namespace: 'kube-system', uid: id },
  });
  const container = (podSandboxId: string, state: string, days: number) => ({
    ...{ id: `in-${podSandboxId}`, podSandboxId, metadata: { name: 'etcd' } },
    ...{ state: `CONTAINER_${state}`, createdAt: nanoseconds(days) },
  });

  const hostWith = async (t: Parameters<typeof testHost>[0], remove = () => ({})) => {
    const it = testHost(t);
    const removed: string[] = [];
    await fakeRuntime(t, it, () => [], {
      ListPodSandbox: () => ({
        items: [
          sandbox('past', 'SANDBOX_NOTREADY', -1),
          sandbox('ended', 'SANDBOX_NOTREADY', 400),
          sandbox('running', 'SANDBOX_READY', 400),
          sandbox('restarted', 'SANDBOX_NOTREADY', -1),
          sandbox('still-at-work', 'SANDBOX_NOTREADY', 400),
        ],
      }),
      ListContainers: () => ({
        containers: [
          container('past', 'EXITED', -1),
          container('restarted', 'EXITED', 400),
          container('still-at-work', 'RUNNING', 400),
        ],
      }),
      RemovePodSandbox: (request) => {
        removed.push(JSON.stringify(request));
        return remove();
      },
    });
    return { it, removed };
  };

  t.test('only what has ended, and was made later than now', async (t) => {
    const { it, removed } = await hostWith(t);
    t.equal(await it.holds(futurePodsRemoved), false);
    t.same(await it.run(futurePodsRemoved), { kind: 'done', note: '2 removed' });
    t.same(removed, ['{"podSandboxId":"ended"}', '{"podSandboxId":"restarted"}']);
  });

  t.test('the kubelet starts also where the runtime refuses', async (t) => {
    const { it } = await hostWith(t, () => {
      throw new Error('the sandbox is held');
    });
    await t.rejects(it.run(futurePodsRemoved), { message: /the sandbox is held/ });
    const failure = new Failure('deadline', 'the sandbox is held');
    t.match(await futurePodsRemoved.instead?.(it.context, failure), /may not start: .*held/);
  });
});

t.test('request-renewal', async (t) => {
  const authority = await createAuthority('kubelet-serving-ca');
  const issued = (fromDays: number) =>
    issueLeaf(
      authority,
      { subject: { commonName: 'edge-0' }, usage: 'server', lifetimeDays: 30 },
      new Date(Date.now() + fromDays * DAY_MS),
    );
  for (const [what, from, isAsked] of [
    ['valid', -1, false],
    ['expired', -31, true],
    ['of a clock that was fast', 10, true],
  ] as const) {
    t.test(what, async (t) => {
      const it = testHost(t);
      const { certificate, key } = await issued(from);
      it.write(SERVING, `${certificate}${key}`, 0o600);
      t.equal(await it.holds(requestRenewal), !isAsked);
      if (isAsked) await waitsForEachEffect(t, () => it.run(requestRenewal));
      t.equal(existsSync(it.at(FLAG)), isAsked);
      t.ok(await it.holds(requestRenewal), 'asked once');
    });
  }

  t.test('damaged', async (t) => {
    const it = testHost(t);
    it.write(SERVING, 'nonsense', 0o600);
    t.notOk(await it.holds(requestRenewal));
  });

  t.test('a kubelet that has none yet asks for its first one by itself', async (t) => {
    const it = testHost(t);
    t.ok(await it.holds(requestRenewal));
  });
});
