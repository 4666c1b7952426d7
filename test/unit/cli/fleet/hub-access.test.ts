/** How `sno fleet` finds its hub. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hubAccess } from '../../../../cli/fleet/hub-access.ts';

const { signal } = new AbortController();

t.test('in a pod: its account, whose token is read again', async (t) => {
  const account = t.testdir({ token: 'first\n', 'ca.crt': 'PEM' });
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
  const access = await hubAccess(undefined, { environment, signal }, account);
  t.match(access, { server: new URL('https://[fd00::1]:6443'), ca: 'PEM', token: 'first' });
  writeFileSync(join(account, 'token'), 'second');
  t.same(await access.renewed?.(), { token: 'second' });
});

t.test('elsewhere, a kubeconfig', async (t) => {
  const own = (server: string) =>
    JSON.stringify({
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server, 'certificate-authority-data': 'UEVN' } }],
      users: [{ name: 'x', user: { token: 't' } }],
    });
  const home = t.testdir({
    '.kube': { config: own('https://home.example.com') },
    given: own('https://given.example.com'),
    named: own('https://named.example.com'),
  });
  const HOME = home;
  const inPod = { KUBERNETES_SERVICE_HOST: '192.0.2.1' };
  for (const [expected, given, environment] of [
    ['given', join(home, 'given'), { HOME, KUBECONFIG: join(home, 'named') }],
    ['named', undefined, { HOME, KUBECONFIG: join(home, 'named'), ...inPod }],
    ['home', undefined, { HOME, KUBECONFIG: '' }],
    ['home', undefined, { HOME, ...inPod }],
  ] as const) {
    const access = await hubAccess(given, { environment, signal }, join(home, 'no-account'));
    t.equal(access.server.hostname, `${expected}.example.com`);
  }
});
