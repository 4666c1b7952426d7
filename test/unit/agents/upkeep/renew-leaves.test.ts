import { createPrivateKey, X509Certificate } from 'node:crypto';
import t from 'tap';
import { readAttempts } from '../../../../agents/upkeep/renew/attempts.ts';
import { concludeRenewal } from '../../../../agents/upkeep/renew/conclude.ts';
import { renewLeaves } from '../../../../agents/upkeep/renew/renew-leaves.ts';
import { exitCodeFor } from '../../../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { inspectCertificate } from '../../../../lib/pki/certificate.ts';
import { renewLeaf } from '../../../../lib/pki/leaf.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { issuedLeaves, renewableLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { type RenewingHost, renewingHost } from './renewing-host.ts';

const DUE = 300;
const EXPIRED = 366;
const ETCD_CLIENTS = ['kube-apiserver-etcd-client', 'sno-agents-etcd-client', 'etcd-server'];
const { apiServerServing, controllerManager, scheduler } = issuedLeaves;
const REPLACED = '/var/lib/sno-agents/sno-renew/replaced';

const run = (it: RenewingHost) => renewLeaves.run(it.context, it.host.progress());
const holds = (it: RenewingHost) => renewLeaves.holds(it.context, it.host.progress());
const concluded = (it: RenewingHost) => concludeRenewal.run(it.context, it.host.progress());
const attempts = async (it: RenewingHost) =>
  Object.fromEntries(
    (await readAttempts(it.host.paths)).map(({ name, failure }) => [name, failure?.code]),
  );

t.test('renew-leaves', async (t) => {
  t.test('renews what is due, and nothing else, with the same keys', async (t) => {
    const it = await renewingHost(t);
    const due = renewableLeaves.filter(({ name }) => !ETCD_CLIENTS.includes(name));
    for (const { name } of due) await it.age(name, DUE);
    const before = new Map(renewableLeaves.map(({ name }) => [name, it.serial(name)]));
    const keys = due.map(({ key }) => it.host.read(key));
    t.equal(await holds(it), false, 'before');
    t.same(await run(it), { kind: 'done', note: `${due.length} renewed` });
    t.equal(await holds(it), true, 'after');
    for (const { name, certificate, key } of renewableLeaves) {
      const isDue = due.some((leaf) => leaf.name === name);
      t.equal(it.serial(name) !== before.get(name), isDue, name);
      const fresh = new X509Certificate(it.host.read(certificate));
      t.ok(fresh.checkPrivateKey(createPrivateKey(it.host.read(key))), `${name} fits its key`);
      t.equal(it.host.mode(certificate), 0o644);
    }
    t.same(
      due.map(({ key }) => it.host.read(key)),
      keys,
    );
    t.same(
      [...new Set(it.users)].toSorted(),
      [
        'kube-apiserver-kubelet-client /healthz',
        ...['sno-agents:deferred', 'sno-agents:renewal-proof'].map(
          (user) => `${user} /apis/authentication.k8s.io/v1/selfsubjectreviews`,
        ),
        ...['system:kube-controller-manager', 'system:kube-scheduler'].map(
          (user) => `${user} /apis/authentication.k8s.io/v1/selfsubjectreviews`,
        ),
      ].toSorted(),
    );
    t.match(it.host.lines.join(''), new RegExp(`presents serial number ${it.serial('etcd-peer')}`));
    t.same(
      Object.values(await attempts(it)),
      due.map(() => undefined),
    );
    t.same(await concluded(it), { kind: 'done' });
    t.equal(await concludeRenewal.holds(it.context, it.host.progress()), true);
    t.same(await run(it), { kind: 'done', note: 'none was due' });
  });

  t.test('restores the certificate that its server does not take up', async (t) => {
    const it = await renewingHost(t, { renewProofMs: 1 });
    await it.age('kube-apiserver-serving', DUE);
    await it.age('kube-scheduler', DUE);
    const old = it.host.read(apiServerServing.certificate);
    it.behaviour.reloads = false;
    t.same(await run(it), { kind: 'done', note: '1 renewed, 1 failed' });
    t.equal(it.host.read(apiServerServing.certificate), old);
    t.notOk(it.host.has(`${REPLACED}/kube-apiserver-serving.crt`));
    t.same(await attempts(it), {
      'kube-apiserver-serving': 'leaf-not-accepted',
      'kube-scheduler': undefined,
    });
    t.equal(await holds(it), true, 'it was tried in this run');
    const later = { ...it.context, run: 'later' };
    t.equal(await renewLeaves.holds(later, it.host.progress()), false, 'the next run tries again');

    t.equal(await concludeRenewal.holds(it.context, it.host.progress()), false);
    const failure = await concluded(it).catch((error: unknown) => error);
    if (!(failure instanceof Failure)) throw failure;
    t.equal(exitCodeFor(failure), 4);
    t.match(failure.code, 'renewal-failed');
    t.match(failure.message, /kube-apiserver-serving could not be renewed/);
    t.match(failure.details.parts?.[0], {
      code: 'leaf-not-accepted',
      details: { subject: '/etc/kubernetes/pki/kube-apiserver/serving.crt' },
      cause: {
        message: /the API server does not present it/,
        cause: { message: /expected serial number/ },
      },
    });

    it.behaviour.reloads = true;
    t.match(await run(it), { note: '1 renewed' });
    t.not(it.host.read(apiServerServing.certificate), old);
    t.same(await concluded(it), { kind: 'done' });
  });

  const refusals: [title: string, behaviour: Partial<RenewingHost['behaviour']>, says: RegExp][] = [
    ['a request is refused', { status: () => 401 }, /status 401: refused by the test/],
    ['the client is somebody else', { named: () => 'somebody' }, /found somebody/],
  ];
  for (const [title, behaviour, says] of refusals) {
    t.test(`restores a client's certificate when ${title}`, async (t) => {
      const it = await renewingHost(t, { renewProofMs: 1 });
      Object.assign(it.behaviour, behaviour);
      await it.age('kube-controller-manager', DUE);
      const old = it.host.read(controllerManager.certificate);
      t.match(await run(it), { note: '0 renewed, 1 failed' });
      t.equal(it.host.read(controllerManager.certificate), old);
      await t.rejects(concluded(it), { message: says });
    });
  }

  t.test('waits until the new certificates are taken up, and says so once', async (t) => {
    const it = await renewingHost(t);
    for (const name of ['front-proxy-client', 'kube-scheduler', 'deferred'])
      await it.age(name, DUE);
    const refused = new Map<string, number>();
    it.behaviour.status = (user) => {
      const before = refused.get(user) ?? 0;
      refused.set(user, before + 1);
      return before < 2 ? 401 : 201;
    };
    const progress = it.host.progress();
    const began = performance.now();
    t.match(await renewLeaves.run(it.context, progress), { note: '3 renewed' });
    const waits = it.host.lines.filter((line) => /Waiting for/.test(line));
    t.equal(waits.length, 1, waits.join(''));
    t.match(waits[0], /new certificates to work: front-proxy-client, kube-scheduler, deferred/);
    t.ok(progress.waitedMs > 0);
    t.ok(progress.waitedMs <= performance.now() - began, 'concurrent waits are not added up');
  });

  t.test('an expired certificate is not restored', async (t) => {
    const it = await renewingHost(t, { renewProofMs: 1 });
    await it.age('kube-controller-manager', EXPIRED);
    it.behaviour.status = () => 503;
    t.match(await run(it), { note: '0 renewed, 1 failed' });
    const { notAfter } = inspectCertificate(it.host.read(controllerManager.certificate));
    t.ok(notAfter > new Date(), 'the new one stays');
    t.match(it.host.lines.join(''), /open may be refused until they are made again/);
    await t.rejects(concluded(it), { message: /it stays, since the old one has expired/ });
    t.equal(await holds(it), true, 'it was tried in this run');

    const later = { ...it.context, run: 'later' };
    t.equal(await renewLeaves.holds(later, it.host.progress()), false, 'the next run tries again');
    t.match(await run(it), { note: '0 renewed, 1 failed' });
    await t.rejects(concluded(it), { message: /not accepted/ }, 'it is not forgotten');

    const fresh = it.host.read(controllerManager.certificate);
    it.behaviour.status = () => 201;
    it.users.length = 0;
    t.match(await run(it), { note: '1 renewed' });
    t.match(it.users, [/^system:kube-controller-manager /], 'proven with a request');
    t.equal(it.host.read(controllerManager.certificate), fresh);
    t.notOk(it.host.has(`${REPLACED}/kube-controller-manager.crt`));
    t.same(await concluded(it), { kind: 'done' }, 'it is not reported any more');
    t.match(await run(it), { note: 'none was due' });
  });

  t.test(
    'a failed certificate that sno-certificates has renewed since is not reported',
    async (t) => {
      const it = await renewingHost(t, { renewProofMs: 1 });
      await it.age('kube-scheduler', DUE);
      it.behaviour.status = () => 503;
      t.match(await run(it), { note: '0 renewed, 1 failed' });
      await it.age('kube-scheduler', 0);
      t.equal(await holds(it), false, 'it is not skipped, although nothing is due');
      t.match(await run(it), { note: 'none was due' });
      t.equal(await holds(it), true);
      t.same(await concluded(it), { kind: 'done' });
    },
  );

  t.test('a certificate of another key is reported and left as it is', async (t) => {
    const it = await renewingHost(t);
    await it.age('kube-scheduler', DUE);
    const old = it.host.read(scheduler.certificate);
    it.host.write(scheduler.key, it.host.read(controllerManager.key), 0o600);
    t.match(await run(it), { note: '0 renewed, 1 failed' });
    t.same(await attempts(it), { 'kube-scheduler': 'leaf-not-signed' });
    t.equal(it.host.read(scheduler.certificate), old);
    t.notOk(it.host.has(REPLACED));
    t.same(it.users, []);
    await t.rejects(concluded(it), { message: /client\.key is not the key of/ });
  });

  t.test('a damaged certificate is reported, others are renewed', async (t) => {
    const it = await renewingHost(t);
    await it.age('kube-scheduler', DUE);
    it.host.write(controllerManager.certificate, 'nothing');
    t.match(await run(it), { note: '1 renewed, 1 failed' });
    t.same(await attempts(it), {
      'kube-controller-manager': 'leaf-not-signed',
      'kube-scheduler': undefined,
    });
    t.equal(it.host.read(controllerManager.certificate), 'nothing');
  });

  t.test('a leaf without an authority on the disk is reported, others are renewed', async (t) => {
    const it = await renewingHost(t);
    await it.age('front-proxy-client', DUE);
    await it.age('kube-scheduler', DUE);
    it.host.remove(authorityPaths('front-proxy').key);
    t.match(await run(it), { note: '1 renewed, 1 failed' });
    t.same(await attempts(it), {
      'front-proxy-client': 'leaf-not-signed',
      'kube-scheduler': undefined,
    });
  });

  t.test('told to stop during the proof, it restores the old certificate', async (t) => {
    const it = await renewingHost(t);
    await it.age('kube-scheduler', DUE);
    const old = it.host.read(scheduler.certificate);
    const stop = new AbortController();
    it.behaviour.onRequest = () => {
      t.not(it.host.read(scheduler.certificate), old);
      t.equal(it.host.read(`${REPLACED}/kube-scheduler.crt`), old, 'a killed run can restore it');
      stop.abort(new Error('told to stop'));
    };
    await t.rejects(renewLeaves.run(it.context, it.host.progress(stop.signal)), {
      message: 'told to stop',
    });
    t.equal(it.host.read(scheduler.certificate), old);
    t.notOk(it.host.has(`${REPLACED}/kube-scheduler.crt`));
  });

  const resumed: [
    title: string,
    days: number,
    status: number,
    note: string,
    kept: 'new' | 'old',
  ][] = [
    ['accepted', DUE, 201, '1 renewed', 'new'],
    ['refused', DUE, 401, '0 renewed, 1 failed', 'old'],
    ['accepted, the old one having expired', EXPIRED, 201, '1 renewed', 'new'],
    ['refused, the old one having expired', EXPIRED, 401, '0 renewed, 1 failed', 'new'],
  ];
  for (const [title, days, status, note, kept] of resumed) {
    t.test(`killed during the proof, and then ${title}`, async (t) => {
      const it = await renewingHost(t, { renewProofMs: 1 });
      await it.age('kube-scheduler', days);
      const old = it.host.read(scheduler.certificate);
      const { certificate, key } = authorityPaths('admin');
      const admin = { certificate: it.host.read(certificate), key: it.host.read(key) };
      const fresh = await renewLeaf(old, admin, new Date());
      it.host.write(`${REPLACED}/kube-scheduler.crt`, old);
      it.host.write(scheduler.certificate, fresh);
      it.behaviour.status = () => status;
      t.equal(await holds(it), false);
      t.match(await run(it), { note });
      t.equal(it.host.read(scheduler.certificate), kept === 'new' ? fresh : old);
      t.equal(it.users.length, 1, 'it is not tried a second time');
      t.equal(await holds(it), true);
      const isAccepted = status === 201;
      t.same(await attempts(it), {
        'kube-scheduler': isAccepted ? undefined : 'leaf-not-accepted',
      });
      if (!isAccepted) await t.rejects(concluded(it), { code: 'renewal-failed' });
      const isUnproven = !isAccepted && kept === 'new';
      t.equal(it.host.has(`${REPLACED}/kube-scheduler.crt`), isUnproven);
    });
  }

  t.test('killed before the new certificate was written, it is renewed', async (t) => {
    const it = await renewingHost(t);
    await it.age('kube-scheduler', DUE);
    const old = it.host.read(scheduler.certificate);
    it.host.write(`${REPLACED}/kube-scheduler.crt`, old);
    t.match(await run(it), { note: '1 renewed' });
    t.equal(it.host.lines.filter((line) => /Renewed kube-scheduler/.test(line)).length, 1);
    t.not(it.host.read(scheduler.certificate), old);
    t.equal(await holds(it), true);
  });

  t.test('interrupted while it resumes: an unproven certificate is not lost', async (t) => {
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = await renewingHost(t);
        // Killed before the new one was written.
        it.host.write(`${REPLACED}/kube-scheduler.crt`, it.host.read(scheduler.certificate));
        return it;
      },
      run,
      result: async (it) => ({
        certificate: it.serial('kube-scheduler'),
        isKept: it.host.has(`${REPLACED}/kube-scheduler.crt`),
        attempts: await attempts(it),
      }),
      least: 2,
      isDurable: true,
    });
  });

  t.test('killed, and its certificate was deleted since: it is not written again', async (t) => {
    const it = await renewingHost(t, { renewProofMs: 1 });
    it.host.write(`${REPLACED}/kube-scheduler.crt`, it.host.read(scheduler.certificate));
    it.host.remove(scheduler.certificate);
    t.match(await run(it), { note: 'none was due' });
    t.notOk(it.host.has(scheduler.certificate));
    t.equal(await holds(it), true);
  });

  t.test('three are renewed at the same time, and no more', async (t) => {
    const it = await renewingHost(t);
    const names = ['front-proxy-client', 'kube-controller-manager', 'kube-scheduler', 'deferred'];
    for (const name of names) await it.age(name, DUE);
    const kept: number[] = [];
    const all = Promise.withResolvers<void>();
    it.behaviour.onRequest = async () => {
      kept.push(names.filter((name) => it.host.has(`${REPLACED}/${name}.crt`)).length);
      if (kept.length === 3) all.resolve();
      await all.promise;
    };
    t.match(await run(it), { note: '4 renewed' });
    t.equal(Math.max(...kept), 3);
    t.equal(kept.at(-1), 1, 'the next batch begins when all of the first are proven');
  });

  t.test('a damaged record of attempts is no record', async (t) => {
    const it = await renewingHost(t);
    for (const text of [
      '{"attempts": 7',
      '{"schemaVersion":2,"attempts":[]}',
      '{"attempts":[{"name":"x","at":"2030-01-01T00:00:00Z"}]}',
    ]) {
      it.host.write('/var/lib/sno-agents/sno-renew/attempts.json', text);
      t.same(await readAttempts(it.host.paths), [], text);
    }
    t.same(await run(it), { kind: 'done', note: 'none was due' });
  });
});
