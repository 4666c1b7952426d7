/** The network of the site: tried, checked, kept or given up. */
import t from 'tap';
import { network } from '../../../../../agents/node/reconfigure/network.ts';
import { thrownBy } from '../../../errors/thrown-by.ts';
import type { TestHost } from '../../host/host.ts';
import { arrived, SITE, STATE } from './site-host.ts';

t.test('network: in memory first, then kept', async (t) => {
  const { host, run, holds } = await arrived(t);
  host.write('/etc/sno-agents/network.yml', 'the factory', 0o600);
  t.notOk(await holds(network));
  await run(network);
  t.ok(await holds(network));
  t.same(
    host.programs.calls('nmstatectl').map((call) => call.replaceAll(host.root, '')),
    [
      'nmstatectl rollback',
      `nmstatectl apply --no-commit --memory-only --timeout=180 ${STATE}/network.yml`,
      'nmstatectl commit',
      `nmstatectl apply ${STATE}/network.yml`,
    ],
  );
  t.same(
    host.programs.calls('nmcli').filter((call) => call.includes('reload')),
    ['nmcli general reload conf', 'nmcli general reload conf'],
    'an address of another host is refused while it is tried',
  );
  t.notOk(host.has('/run/NetworkManager/conf.d/90-sno-duplicate-addresses.conf'));
  t.match(host.read('/etc/sno-agents/network.yml'), /198\.51\.100\.20/, 'also at the next boot');
});

const WRONG: readonly {
  readonly name: string;
  readonly more?: string;
  readonly prepare: (host: TestHost) => void;
  readonly says: RegExp;
  readonly code: string;
}[] = [
  {
    name: 'no link',
    prepare: (host) => host.write('/sys/class/net/eno1/carrier', '0\n'),
    says: /^no link on eno1\. Check the cable in eno1/,
    code: 'site-link',
  },
  {
    name: 'nmstate refuses it',
    prepare: (host) => host.programs.give('nmstatectl', 'echo "no such thing" >&2; exit 1'),
    says: /cannot be applied; found.*no such thing.*Correct raw_nm_state_config/,
    code: 'site-network',
  },
  {
    name: 'the internal address is lost',
    prepare: (host) => host.programs.give('ip', 'echo "[]"'),
    says: /br-node has no address/,
    code: 'site-check',
  },
  {
    name: 'other name servers',
    more: 'dns:\n  servers: [198.51.100.53]\n',
    prepare: () => undefined,
    says: /resolv\.conf does not name 198\.51\.100\.53/,
    code: 'site-check',
  },
  {
    name: 'no answer to ping',
    more: 'siteChecks:\n  - ping: 198.51.100.1\n',
    prepare: (host) => host.programs.give('ping', 'exit 1'),
    says: /no answer to ping from 198\.51\.100\.1.*Check the cable/,
    code: 'site-check',
  },
  {
    name: 'a closed port',
    more: 'siteChecks:\n  - tcp: 127.0.0.1:1\n',
    prepare: () => undefined,
    says: /no answer from 127\.0\.0\.1 port 1.*ECONNREFUSED/,
    code: 'site-check',
  },
  {
    name: 'an unknown name',
    more: 'siteChecks:\n  - dns: time.example.com\n',
    prepare: (host) => host.programs.give('getent', 'exit 2'),
    says: /the name time\.example\.com is unknown/,
    code: 'site-check',
  },
  {
    name: 'a server that nobody trusts',
    more: 'siteChecks:\n  - https: https://mirror.example.com/v2/\n',
    prepare: (host) => host.programs.give('curl', 'echo "self-signed" >&2; exit 60'),
    says: /no answer from https:\/\/mirror\.example\.com\/v2\/.*self-signed/,
    code: 'site-check',
  },
];
for (const { name, more = '', prepare, says, code } of WRONG) {
  t.test(`network: ${name}`, async (t) => {
    const { host, context, holds } = await arrived(t, { config: SITE + more });
    prepare(host);
    const progress = host.progress(undefined, 10);
    const failure = await thrownBy(network.run(context, progress));
    t.match(failure, { kind: 'fatal', code, message: says });
    const calls = host.programs.calls('nmstatectl');
    t.notOk(calls.includes('nmstatectl commit'), 'nothing is kept');
    if (calls.some((call) => call.includes('--memory-only')) && code === 'site-check') {
      t.equal(calls.at(-1), 'nmstatectl rollback');
    }
    t.notOk(await holds(network));
  });
}
