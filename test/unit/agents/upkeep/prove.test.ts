/** What proves a certificate of each kind, and what is said if nothing does. */
import { createServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { type NetConnectOpts, Socket } from 'node:net';
import { mock } from 'node:test';
import tls, { type ConnectionOptions } from 'node:tls';
import t from 'tap';
import {
  isRefusedByAnswer,
  prove,
  proveRefused,
} from '../../../../agents/steps/certificates/prove.ts';
import { readReplaced, unprovenLeaves } from '../../../../agents/steps/certificates/replaced.ts';
import { replaceLeaf } from '../../../../agents/upkeep/renew/replace-leaf.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import {
  issuedLeaves,
  type RotatableLeaf,
  renewableLeaves,
  rotatableLeaves,
} from '../../../../lib/render/kubernetes/leaves.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { listening } from '../../clients/kube/listening.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { seal } from '../host/sealed.ts';
import { renewingHost } from './renewing-host.ts';

function named<L extends RotatableLeaf>(leaves: readonly L[], name: string): L {
  const leaf = leaves.find((each) => each.name === name);
  if (leaf === undefined) throw new Error(`no leaf ${name}`);
  return leaf;
}
const leafOf = (name: string) => named(renewableLeaves, name);

const REPLACED = '/var/lib/sno-agents/sno-renew/replaced/kube-scheduler.crt';

const SEEN: readonly (readonly [name: string, says: RegExp, fails: RegExp])[] = [
  [
    'etcd-peer',
    /^etcd, to its peers, presents serial number [0-9a-f]+$/,
    /etcd, to its peers, does/,
  ],
  ['kube-apiserver-serving', /^the API server presents serial number [0-9a-f]+$/, /not present it/],
  ['kube-apiserver-etcd-client', /^etcd accepts it$/, /^etcd does not accept it after 2 s$/],
  ['sno-agents-etcd-client', /^etcd accepts it$/, /^etcd does not accept it after 0 s/],
  ['kube-apiserver-kubelet-client', /^the kubelet accepts it$/, /the kubelet does not accept it/],
  ['front-proxy-client', /the API server accepts it as sno-agents:renewal-proof$/, /not accept it/],
  ['kube-scheduler', /accepts it as system:kube-scheduler$/, /the API server does not accept it/],
];

t.test('each kind of certificate by the server that it is for', async (t) => {
  const { context, host } = await renewingHost(t);
  for (const [name, says] of SEEN)
    t.match(await prove(context, leafOf(name), host.progress()), says, name);
});

t.test('etcd is asked with a certificate, which the others do not need', async (t) => {
  const { context, host } = await renewingHost(t);
  const { connect } = tls;
  const seen: (string | undefined)[] = [];
  const connecting = mock.method(tls, 'connect', (options: ConnectionOptions) => {
    seen.push(options.cert?.toString());
    return connect(options);
  });
  t.teardown(() => {
    connecting.mock.restore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const peer = host.read(issuedLeaves.etcdPeer.certificate);
  host.write(issuedLeaves.etcdServer.certificate, peer);
  for (const name of ['etcd-server', 'etcd-peer', 'kube-apiserver-serving'])
    await prove(context, leafOf(name), host.progress());
  t.same(seen, [peer, peer, undefined]);
});

t.test('what is being written is no replaced certificate', async (t) => {
  const { host } = await renewingHost(t);
  for (const name of ['kube-scheduler.crt', '.deferred.crt.2b44015e.new', 'deferred.crt~'])
    host.write(`/var/lib/sno-agents/sno-renew/replaced/${name}`);
  t.same(await unprovenLeaves(host.paths), ['kube-scheduler']);
});

t.test("the kubelet's own certificate is for its name, not for where it is asked", async (t) => {
  const { context, host } = await renewingHost(t, { renewProofMs: 1 });
  const leaf = named(rotatableLeaves, 'kubelet-serving');
  const authority = await createAuthority('kubelet-serving-ca');
  const subject = { commonName: 'system:node:edge-0' };
  const own = await issueLeaf(authority, { subject, usage: 'server', dnsNames: ['edge-0'] });
  host.write(authorityPaths('kubelet-serving').certificate, authority.certificate);
  host.write(leaf.certificate, own.certificate + own.key, 0o600);
  const port = await listening(t, createServer({ cert: own.certificate, key: own.key }));
  const paths = hostPaths(host.root, { kubelet: `https://127.0.0.1:${port}` });
  const asked = { ...context, paths };
  t.match(await prove(asked, leaf, host.progress()), /^the kubelet presents serial number/);
  const other = { ...asked, hostname: () => 'edge-1' };
  await t.rejects(prove(other, leaf, host.progress()), { message: /kubelet does not present it/ });
});

t.test("the kubelet's identity is proven by the API server", async (t) => {
  const { context, host } = await renewingHost(t);
  const leaf = named(rotatableLeaves, 'kubelet-client');
  const { certificate, key } = authorityPaths('admin');
  const admin = { certificate: host.read(certificate), key: host.read(key) };
  const subject = { commonName: 'system:node:edge-0' };
  const own = await issueLeaf(admin, { subject, usage: 'client' });
  host.write(leaf.certificate, own.certificate + own.key, 0o600);
  const seen = await prove(context, leaf, host.progress());
  t.equal(seen, 'the API server accepts it as system:node:edge-0');
});

t.test('what is not proven in time is said with its server and the time', async (t) => {
  for (const [name, , fails] of SEEN) {
    const renewProofMs = fails.source.includes(' s$') ? 1500 : 1;
    const { context, host, behaviour } = await renewingHost(t, { renewProofMs });
    behaviour.status = () => 401;
    behaviour.reloads = false;
    const { certificate } = leafOf(name);
    // A server that presents another certificate than the one on the disk.
    const other = name === 'etcd-peer' ? issuedLeaves.etcdServer : issuedLeaves.etcdPeer;
    if (/etcd-peer|serving/.test(name)) host.write(certificate, host.read(other.certificate));
    const error = await thrownBy(prove(context, leafOf(name), host.progress()));
    t.match(error, { kind: 'deadline', message: fails }, name);
  }
});

t.test('the servers of the host itself are asked, on this host only', async (t) => {
  const { context, host } = await renewingHost(t, { renewProofMs: 1 });
  const paths = hostPaths(host.root);
  const asked: string[] = [];
  t.capture(Socket.prototype, 'connect', function (this: Socket, to: NetConnectOpts) {
    asked.push('port' in to ? `${to.host}:${to.port}` : 'no port');
    process.nextTick(() => this.destroy(new Error('not in a test')));
    return this;
  });
  for (const [name, place] of [
    ['etcd-server', '127.0.0.1:2379'],
    ['etcd-peer', '127.0.0.1:2380'],
    ['kube-apiserver-etcd-client', '127.0.0.1:2379'],
    ['kube-apiserver-serving', '127.0.0.1:6443'],
    ['kube-scheduler', '127.0.0.1:6443'],
    ['kube-apiserver-kubelet-client', '127.0.0.1:10250'],
  ] as const) {
    asked.length = 0;
    await t.rejects(prove({ ...context, paths }, leafOf(name), host.progress()), {
      cause: { message: 'not in a test' },
    });
    t.same([...new Set(asked)], [place], name);
  }
});

t.test('a server that does not answer once is asked again', async (t) => {
  const { context, host, behaviour } = await renewingHost(t);
  const progress = host.progress();
  const asked = Promise.withResolvers<void>();
  behaviour.onRequest = () => {
    behaviour.onRequest = () => {};
    asked.resolve();
    return new Promise(() => {});
  };
  const clock = stopClock(t);
  const proven = prove(context, leafOf('kube-scheduler'), progress);
  await asked.promise;
  t.same(clock.deadlines, [10_000]);
  clock.pass(Math.max(...clock.deadlines));
  await clock.wake();
  t.match(await proven, /the API server accepts it/);
});

t.test('a certificate by another name is not proven', async (t) => {
  const { context, host, behaviour } = await renewingHost(t, { renewProofMs: 1 });
  behaviour.named = () => 'another';
  for (const [name, expected] of [
    ['kube-scheduler', 'system:kube-scheduler'],
    ['front-proxy-client', 'sno-agents:renewal-proof'],
  ] as const) {
    t.match(await thrownBy(prove(context, leafOf(name), host.progress())), {
      kind: 'deadline',
      details: { cause: { details: { expected, found: 'another' } } },
    });
  }
});

t.test('an old certificate is refused by an answer 401, and by nothing else', async (t) => {
  const { context, host, behaviour } = await renewingHost(t, { renewProofMs: 1 });
  const leaf = leafOf('kube-scheduler');
  const { certificate, key } = leaf;
  const old = { certificate: host.read(certificate), key: host.read(key) };
  for (const status of [201, 403, 500]) {
    behaviour.status = () => status;
    t.match(
      await thrownBy(proveRefused(context, leaf, old, host.progress())),
      { kind: 'deadline', message: 'the old certificate of kube-scheduler is not refused' },
      String(status),
    );
  }
  behaviour.status = () => 401;
  await proveRefused(context, leaf, old, host.progress());
  t.same(
    rotatableLeaves.filter(isRefusedByAnswer).map(({ name }) => name),
    [
      ...['kube-apiserver-kubelet-client', 'front-proxy-client', 'kube-controller-manager'],
      ...['kube-scheduler', 'deferred', 'kubelet-client'],
    ],
  );
});

t.test(
  'refused, and killed at any moment: an unproven certificate is known to be one',
  async (t) => {
    const leaf = leafOf('kube-scheduler');
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = await renewingHost(t, { renewProofMs: 1 });
        await it.age('kube-scheduler', 300);
        it.behaviour.status = () => 401;
        return { ...it, old: it.host.read(leaf.certificate) };
      },
      run: ({ context, host, old }) =>
        replaceLeaf(
          context,
          { leaf, path: host.at(leaf.certificate), pem: old },
          host.progress(),
        ).catch((error: unknown) => {
          if (!(error instanceof Failure)) throw error;
          t.equal(error.code, 'leaf-not-accepted');
        }),
      async allowed({ host, old }, when) {
        const isOld = host.read(leaf.certificate) === old;
        t.ok(isOld || (await readReplaced(host.paths, leaf.name)) === old, when);
        if (host.has(REPLACED)) t.equal(host.mode(REPLACED), 0o600, when);
      },
      result: async ({ host, old }) => ({
        isOld: host.read(leaf.certificate) === old,
        kept: await readReplaced(host.paths, leaf.name),
      }),
      least: 10,
      isDurable: true,
    });
  },
);

t.test('replaced at any moment: the old one is kept until the new one is proven', async (t) => {
  const leaf = leafOf('kube-scheduler');
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await renewingHost(t);
      await it.age('kube-scheduler', 300);
      return { ...it, old: it.host.read(leaf.certificate) };
    },
    run: ({ context, host, old }) =>
      replaceLeaf(context, { leaf, path: host.at(leaf.certificate), pem: old }, host.progress()),
    async allowed({ host, users, old }, when) {
      const isOld = host.read(leaf.certificate) === old;
      const kept = await readReplaced(host.paths, leaf.name);
      t.ok(isOld || kept === old || users.length > 0, `${when}: it can be restored`);
    },
    result: async ({ host, old }) => ({
      isNew: host.read(leaf.certificate) !== old,
      kept: await readReplaced(host.paths, leaf.name),
      mode: host.mode(leaf.certificate),
    }),
    least: 10,
    isDurable: true,
  });
});

t.test('on a sealed host, the next boot has the certificate that was proven', async (t) => {
  const leaf = leafOf('kube-scheduler');
  for (const status of [201, 401]) {
    const { age, behaviour, context, host } = await renewingHost(t, { renewProofMs: 1 });
    await age(leaf.name, 300);
    behaviour.status = () => status;
    const { afterBoot } = seal(host);
    const pem = host.read(leaf.certificate);
    const given = { leaf, path: host.at(leaf.certificate), pem };
    const replaced = replaceLeaf(context, given, host.progress());
    if (status === 201) await replaced;
    else await t.rejects(replaced, { code: 'leaf-not-accepted' });
    t.equal(afterBoot(leaf.certificate), host.read(leaf.certificate));
    t.equal(afterBoot(leaf.certificate) === pem, status === 401);
  }
});
