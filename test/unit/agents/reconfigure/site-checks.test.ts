/** Whether the servers of a site answer: by which program, and what a technician is told. */
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { failedChecks } from '../../../../agents/reconfigure/site-checks.ts';
import type { SiteCheck } from '../../../../lib/config/site-config/site-config.ts';
import { testHost } from '../host/host.ts';

const signal = new AbortController().signal;
const CHECKS: readonly SiteCheck[] = [
  { kind: 'ping', address: '198.51.100.1' },
  { kind: 'dns', name: 'registry.example.com' },
  { kind: 'https', url: 'https://registry.example.com/v2/' },
];
const GET =
  '--silent --show-error --output=/dev/null --max-time=5 https://registry.example.com/v2/';

/** A host whose programs answer, unless they are among those that do not. */
function answering(t: Test, ...silent: readonly string[]) {
  const host = testHost(t);
  for (const name of ['getent', 'curl', 'ping']) {
    host.programs.give(name, silent.includes(name) ? 'echo "no answer" >&2; exit 1' : 'true');
  }
  host.programs.give('systemd-run', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  const check = (checks: readonly SiteCheck[], trustBundle?: string) =>
    failedChecks(checks, { trustBundle, signal });
  return { host, check };
}

t.test('all servers answer, each asked as it will be', async (t) => {
  const { host, check } = answering(t);
  t.same(await check(CHECKS), []);
  t.same(host.programs.calls('getent'), ['getent ahosts registry.example.com.']);
  t.same(host.programs.calls('curl'), [`curl ${GET}`]);
  t.same(host.programs.calls('ping'), ['ping -c 1 -W 4 198.51.100.1']);
});

t.test('each that does not answer is named, with what can be done', async (t) => {
  const { check } = answering(t, 'getent', 'curl', 'ping');
  const failed = await check([...CHECKS, { kind: 'tcp', host: '127.0.0.1', port: await unused() }]);
  t.match(failed, [
    { found: /^no answer to ping from 198\.51\.100\.1: .*no answer/s, fix: /Check the cable/ },
    { found: /^the name registry\.example\.com is unknown: /, fix: /Check the name servers/ },
    {
      found: /^no answer from https:\/\/registry\.example\.com\/v2\/: /,
      fix: /about registry\.example\.com\.$/,
    },
    {
      found: /^no answer from 127\.0\.0\.1 port \d+: .*ECONNREFUSED/,
      fix: /may reach 127\.0\.0\.1/,
    },
  ]);
  t.equal(failed.length, 4);
});

t.test('a port that answers', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { check } = answering(t);
  t.same(await check([{ kind: 'tcp', host: '127.0.0.1', port }]), []);
});

t.test('a server is trusted by the bundle of the site, or by the system', async (t) => {
  const https = CHECKS.filter(({ kind }) => kind === 'https');
  const { host, check } = answering(t);
  t.same(await check(https, '/bundle.pem'), []);
  t.same(host.programs.calls('curl'), [`curl --cacert=/bundle.pem ${GET}`]);
  host.programs.forgetCalls();
  host.programs.give('curl', 'case "$1" in --cacert=*) exit 60 ;; esac');
  t.same(await check(https, '/bundle.pem'), []);
  t.same(host.programs.calls('curl'), [`curl --cacert=/bundle.pem ${GET}`, `curl ${GET}`]);
});

/** A port at which nobody listens. */
async function unused(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
