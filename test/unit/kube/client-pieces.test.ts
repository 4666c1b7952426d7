import t from 'tap';
import { readinessReason } from '../../../lib/kube/api-ready.ts';
import { backoffMs } from '../../../lib/kube/backoff.ts';
import { ChangeSignal } from '../../../lib/kube/change-signal.ts';
import { inParallel } from '../../../lib/kube/in-parallel.ts';
import { readKubeconfig } from '../../../lib/kube/kubeconfig.ts';
import { resourcePath, resources } from '../../../lib/kube/resources.ts';

t.test('readiness is status 200 and nothing else', async (t) => {
  t.equal(readinessReason({ code: 200, body: 'ok' }), undefined);
  t.equal(
    readinessReason({
      code: 500,
      body: '[+]ping ok\n[-]etcd failed: reason withheld\n[-]rbac failed\n',
    }),
    "the API's checks etcd, rbac fail",
  );
  for (const code of [201, 204, 301, 401, 403, 404, 500, 503]) {
    t.equal(readinessReason({ code, body: '' }), `/readyz answers ${code}`);
  }
});

t.test('paths name scope, object and subresource, and cannot be left', async (t) => {
  const { pods, leases } = resources;
  t.equal(resourcePath(pods, {}), '/api/v1/pods');
  t.equal(
    resourcePath(leases, { namespace: 'kube-system', name: 'a', subresource: 'status' }),
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a/status',
  );
  t.equal(
    resourcePath(pods, { namespace: '../..', name: 'a?b' }),
    '/api/v1/namespaces/..%2F../pods/a%3Fb',
  );
});

t.test('pauses double up to five seconds and respect what the server asks for', async (t) => {
  for (const [failures, longest] of [
    [1, 100],
    [3, 400],
    [50, 5000],
  ] as const) {
    const pause = backoffMs(failures);
    t.ok(pause <= longest && pause >= longest * 0.75, `${failures}: ${pause}`);
  }
  t.equal(backoffMs(1, 60_000), 60_000);
});

t.test('work in parallel is bounded, complete and stops at an error', async (t) => {
  let running = 0;
  let most = 0;
  const finished: number[] = [];
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    finished.push(item);
  });
  t.equal(most, 3);
  t.same(finished.sort(), [1, 2, 3, 4, 5, 6, 7]);
  await t.rejects(
    inParallel([1], 4, () => Promise.reject(new Error('no'))),
    /no/,
  );
});

t.test('a change during work is not lost, two count once', async (t) => {
  const signal = new ChangeSignal();
  const stop = new AbortController();
  signal.notify();
  signal.notify();
  await signal.next(stop.signal);
  const next = signal.next(stop.signal);
  stop.abort(new Error('enough'));
  await t.rejects(next, /enough/);
});

const cluster = (fields: string) => `clusters: [{name: c, cluster: {${fields}}}]\n`;
const rest = 'current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n';
const user = 'users: [{name: u, user: {client-certificate: pki/c.pem, client-key-data: S0VZ}}]\n';
const good = `${rest}${user}${cluster('server: "https://127.0.0.1:6443", certificate-authority: ca.pem')}`;

t.test('a kubeconfig with files beside it and data inside', async (t) => {
  const root = t.testdir({ config: good, 'ca.pem': 'CA', pki: { 'c.pem': 'CERT' } });
  t.match(await readKubeconfig(`${root}/config`), {
    server: new URL('https://127.0.0.1:6443'),
    ca: 'CA',
    certificate: 'CERT',
    key: 'KEY',
  });
});

const badKubeconfigs = [
  { title: 'no file', text: undefined, reason: /ENOENT/ },
  { title: 'no YAML', text: 'a: [', reason: /flow/i },
  { title: 'plain http', text: good.replace('https:', 'http:'), reason: /server/ },
  {
    title: 'no context',
    text: good.replace('current-context: x', 'current-context: y'),
    reason: /context y not found/,
  },
  {
    title: 'no CA',
    text: good.replace(', certificate-authority: ca.pem', ''),
    reason: /certificate-authority/,
  },
  {
    title: 'verification off',
    text: good.replace('certificate-authority: ca.pem', 'insecure-skip-tls-verify: true'),
    reason: /insecure-skip-tls-verify/,
  },
  {
    title: 'a missing certificate',
    text: good.replace('pki/c.pem', 'gone.pem'),
    reason: /gone\.pem/,
  },
];

t.test('a kubeconfig that cannot be used is told by file and field', async (t) => {
  for (const { title, text, reason } of badKubeconfigs) {
    const root = t.testdir({
      ...(text === undefined ? {} : { config: text }),
      'ca.pem': 'CA',
      pki: { 'c.pem': 'CERT' },
    });
    await t.rejects(readKubeconfig(`${root}/config`), { kind: 'usage', message: reason }, title);
    await t.rejects(
      readKubeconfig(`${root}/config`),
      { message: new RegExp(`${root}/config`) },
      title,
    );
  }
});
