import t from 'tap';
import { confirmTrust } from '../../../../agents/worker/trust/confirm.ts';
import { publishedCa } from '../../../../agents/worker/trust/published-ca.ts';
import { startWithCa } from '../../../../agents/worker/trust/start-with-ca.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { dying, killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { differentMoments } from '../../engine/steps/moments.ts';
import { toldToStop } from '../upkeep/told-to-stop.ts';
import { both, CA, next, old, other, trustingHost } from './trusting-host.ts';

const PATCHES = (requests: readonly { method: string }[]) =>
  requests.filter(({ method }) => method === 'PATCH').length;

t.test('a worker follows a rotation, restarts its kubelet once for each bundle', async (t) => {
  const it = await trustingHost(t);
  const follows = async (published: string, restarts: number) => {
    it.publish(published);
    await it.run();
    t.equal(it.host.read(CA), published);
    t.equal(it.readByKubelet(), published, 'the running kubelet trusts it');
    t.equal(it.confirmed(), sha256(published));
    t.equal(it.restarts(), restarts);
    const sent = PATCHES(it.api.requests);
    t.same(await it.run(), ['the kubelet has them already', 'no restart', 'confirmed already']);
    t.equal(it.restarts(), restarts, 'again: no restart');
    t.equal(PATCHES(it.api.requests), sent, 'again: nothing is sent');
  };
  // Nobody has recorded what this kubelet read.
  await follows(old.certificate, 1);
  await follows(both, 2);
  t.equal(it.host.mode(CA), 0o644);
  it.present('next');
  await it.run();
  t.equal(it.readByKubelet(), both, 'the new one is in use, and it trusts both');
  // Nothing trusts the old one any more: with both, the worker still knows the API server.
  await follows(next.certificate, 3);
});

t.test('what the server cannot be verified by is not taken', async (t) => {
  for (const published of [other.certificate, next.certificate, `${'-'.repeat(5)}\n`]) {
    const it = await trustingHost(t);
    it.publish(old.certificate);
    await it.run();
    it.publish(published);
    await t.rejects(it.run(), { kind: 'retry', message: /cannot be verified|there is no CA in/ });
    t.equal(it.host.read(CA), old.certificate, 'the present one stays');
    t.equal(it.restarts(), 1);
    t.equal(it.confirmed(), sha256(old.certificate));
  }
});

t.test('a server of another CA than those that are trusted gives nothing', async (t) => {
  const it = await trustingHost(t);
  it.host.write(CA, other.certificate);
  it.publish(old.certificate);
  await t.rejects(it.run(), { name: 'KubeError', kind: 'unreachable' });
  t.equal(it.host.read(CA), other.certificate);
  t.equal(it.restarts(), 0);
  t.equal(it.confirmed(), undefined);
});

t.test('an API that does not answer, or refuses, changes nothing', async (t) => {
  const it = await trustingHost(t);
  it.publish(both);
  const answers: [Parameters<typeof it.api.rule>[0], RegExp][] = [
    [() => 'cut', /socket hang up|closed/],
    [() => refusal(503, { message: 'busy' }), /503 busy/],
    [
      () => refusal(403, { reason: 'Forbidden', message: 'no' }),
      /does not let this node read ConfigMap kube-system\/kube-root-ca\.crt.*sno create worker-ignition/,
    ],
    [() => refusal(400, { message: 'broken' }), /400 broken/],
    [({ path }) => (path.includes('nodes') ? undefined : refusal(404, {})), /there is no CA in/],
  ];
  for (const [rule, says] of answers) {
    it.api.rule(rule);
    await t.rejects(it.run(), { message: says });
    t.equal(it.host.read(CA), old.certificate);
  }
  t.equal(it.restarts(), 0);
  t.equal(it.confirmed(), undefined);
});

t.test('nothing is confirmed before the kubelet runs with it', async (t) => {
  const it = await trustingHost(t);
  it.publish(old.certificate);
  await it.run();
  it.publish(both);
  it.host.programs.unless('systemctl', `[ -e "$ROOT/broken" ] && exit 1`);
  it.host.write('/broken');
  await t.rejects(it.run(), { message: /systemctl restart kubelet/ });
  t.equal(it.host.read(CA), both);
  t.equal(it.confirmed(), sha256(old.certificate));
  it.host.remove('/broken');
  await it.run();
  t.equal(it.readByKubelet(), both, 'the next run restarts it');
  t.equal(it.confirmed(), sha256(both));
});

t.test('a Node that was deleted is not made', async (t) => {
  const it = await trustingHost(t);
  it.publish(old.certificate);
  it.api.delete('/api/v1/nodes/worker-0');
  await t.rejects(it.run(), { kind: 'retry', message: /has no Node worker-0.*restart kubelet/ });
  t.equal(PATCHES(it.api.requests), 0);
});

t.test('a kubelet that read other CAs at a boot in between is restarted', async (t) => {
  const it = await trustingHost(t);
  it.publish(old.certificate);
  await it.run();
  it.publish(both);
  it.host.programs.unless('systemctl', `[ -e "$ROOT/broken" ] && exit 1`);
  it.host.write('/broken');
  await t.rejects(it.run());
  it.host.remove('/broken');
  it.boot();
  // The rotation was rolled back.
  it.publish(old.certificate);
  await it.run();
  t.equal(it.readByKubelet(), old.certificate);
});

t.test('told to stop while it verifies the server, it says nothing against the CAs', async (t) => {
  const it = await trustingHost(t);
  it.publish(both);
  const stop = new AbortController();
  let asked = 0;
  it.api.rule(({ path }) => {
    asked += path.endsWith('/kube-root-ca.crt') ? 1 : 0;
    if (asked < 2) return undefined;
    stop.abort(new Error('told to stop'));
    return 'cut';
  });
  const context = { ...it.host.context, run: 'this' };
  await t.rejects(publishedCa.run(context, it.host.progress(stop.signal)), {
    message: 'told to stop',
  });
  t.equal(it.host.read(CA), old.certificate);
});

t.test('told to stop at any request, it waits for no answer', async (t) => {
  for (const [step, method, at] of [
    [publishedCa, 'GET', '/kube-root-ca.crt'],
    [confirmTrust, 'GET', '/nodes/worker-0'],
    [confirmTrust, 'PATCH', '/nodes/worker-0'],
  ] as const) {
    await toldToStop(t, `${method} ${at}`, async (silent, signal) => {
      const it = await trustingHost(t);
      it.publish(old.certificate);
      await it.run();
      it.publish(both);
      it.api.set('/api/v1/nodes/worker-0', { metadata: { name: 'worker-0' } });
      it.api.rule((asked) =>
        asked.method === method && asked.path.endsWith(at) ? silent() : undefined,
      );
      await step.run({ ...it.host.context, run: 'this' }, it.host.progress(signal));
    });
  }
});

t.test('what is not known of the kubelet is not confirmed, and asked again', async (t) => {
  const it = await trustingHost(t);
  const context = { ...it.host.context, run: 'this' };
  await t.rejects(confirmTrust.run(context, it.host.progress()), {
    kind: 'retry',
    message: /not known what the kubelet trusts/,
  });
  t.equal(it.confirmed(), undefined);
  it.publish(old.certificate);
  await it.run();
  t.ok(await startWithCa.holds(context, it.host.progress()));
  it.host.write(CA, both);
  t.notOk(await startWithCa.holds(context, it.host.progress()), 'another file than it has read');
});

t.test('killed twice at the same moment, with a restart of the host in between', async (t) => {
  const rotating = async () => {
    const it = await trustingHost(t);
    it.publish(old.certificate);
    await it.run();
    it.publish(both);
    return it;
  };
  const whole = await rotating();
  const { effects } = await dying(Number.POSITIVE_INFINITY, false, () => whole.run());
  for (const { at } of differentMoments(effects).filter(({ losesPower }) => !losesPower)) {
    const it = await rotating();
    const { before } = await dying(at, false, () => it.run());
    it.boot();
    // The rotation was rolled back.
    it.publish(old.certificate);
    await dying(at, false, () => it.run());
    await it.run();
    t.equal(it.readByKubelet(), old.certificate, `before ${before}`);
  }
});

t.test('killed at any moment, the kubelet is restarted with what it has to trust', async (t) => {
  for (const [present, wanted] of [
    [old.certificate, both],
    [both, old.certificate],
  ] as const) {
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = await trustingHost(t);
        it.publish(present);
        await it.run();
        it.publish(wanted);
        return it;
      },
      run: (it) => it.run(),
      allowed(it, when) {
        t.ok([present, wanted].includes(it.host.read(CA)), `${when}: the one or the other`);
        if (it.confirmed() !== sha256(present))
          t.equal(it.readByKubelet(), wanted, `${when}: confirmed once it is read`);
        if (when.startsWith('power cut')) it.boot();
      },
      async result(it) {
        const restarts = it.restarts();
        await it.run();
        return {
          again: it.restarts() - restarts,
          ca: it.host.read(CA),
          mode: it.host.mode(CA),
          read: it.readByKubelet(),
          confirmed: it.confirmed(),
        };
      },
      // The record is deleted, the CAs and the record are written, each with its syncs.
      least: 10,
      isDurable: true,
    });
  }
});
