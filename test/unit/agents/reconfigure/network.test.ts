/** The network of the site: tried, checked, kept or given up. */

import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import t from 'tap';
import { silentNeighbours } from '../../../../agents/reconfigure/neighbours.ts';
import { siteNetwork } from '../../../../agents/reconfigure/network.ts';
import { readDocument } from '../../../../lib/config/file/document.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import type { TestHost } from '../host/host.ts';
import { arrived, SITE, STATE } from './site-host.ts';

const PLAIN = 'api_version: 1\ncluster_name: shop\nbase_domain: example.com\n';
/** Keeps what nmstate is given, and has the name servers in it. */
const NMSTATE = `case "$*" in
"apply "*) for file; do :; done; cp "$file" "$ROOT/applied" ;;
esac`;

t.test('network: in memory first, then kept', async (t) => {
  const { host, run, holds } = await arrived(t);
  host.write('/etc/sno-agents/network.yml', 'the factory', 0o600);
  host.programs.give(
    'nmstatectl',
    'for file; do :; done; [ "$1" != apply ] || stat -c %a "$file" >> "$ROOT/modes"',
  );
  t.notOk(await holds(siteNetwork));
  await run(siteNetwork);
  t.ok(await holds(siteNetwork));
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
  t.notOk(host.has(`${STATE}/network.yml`));
  for (const kept of ['/etc/sno-agents/network.yml', `${STATE}/applied-network.yml`])
    t.equal(host.mode(kept), 0o600, kept);
  t.same(host.read('/modes').split('\n'), ['600', '600', ''], 'it may have passwords');
});

t.test('network: a site without one of its own keeps the present one, if it answers', async (t) => {
  const { host, context, run, holds } = await arrived(t, { config: PLAIN });
  t.match(await run(siteNetwork), { kind: 'done', note: 'as it was' });
  t.same(host.programs.calls('nmstatectl'), []);
  t.ok(await holds(siteNetwork));
  host.programs.give('ping', 'exit 1');
  t.match(await thrownBy(siteNetwork.run(context, host.progress(undefined, 10))), {
    code: 'site-check',
  });
  const expired = () => thrownBy(siteNetwork.run(context, host.progress(undefined, 10)));
  host.write('/sys/class/net/eno1/carrier', '0\n');
  host.write('/sys/class/net/eno2/carrier', '0\n');
  t.match(await expired(), {
    code: 'site-link',
    message: /^no link on eno1 \(.*\), eno2\. Check the cable in eno1 or eno2, and insert/,
  });
  host.write('/sys/class/net/eno3/address', '52:54:00:00:00:03\n');
  t.match(await expired(), { code: 'site-link' }, 'one that is down is in use by nobody');
  host.write('/sys/class/net/eno2/carrier', '1\n');
  t.match(await expired(), { code: 'site-check' }, 'a cable is not all that is missing');
});

for (const [name, before, config, kept] of [
  ['with a network of the site', undefined, SITE, { interfaces: [{ name: 'eno1' }] }],
  ['on a host that DHCP configures', undefined, PLAIN, {}],
  [
    'on an all-in-one host, whose own network stays',
    'interfaces: [{name: eno1, type: ethernet}]\ndns-resolver: {config: {server: [192.0.2.53]}}\n',
    PLAIN,
    { interfaces: [{ name: 'eno1' }] },
  ],
] as const) {
  t.test(`network: name servers and search domains ${name}`, async (t) => {
    const dns = 'dns: {servers: [198.51.100.53], search: [shop.example.com]}\n';
    const { host, run, holds } = await arrived(t, { config: config + dns });
    host.programs.give('nmstatectl', NMSTATE);
    if (before !== undefined) host.write('/etc/sno-agents/network.yml', before, 0o600);
    host.write('/etc/resolv.conf', 'search shop.example.com\nnameserver 198.51.100.53\n');
    await run(siteNetwork);
    t.ok(await holds(siteNetwork));
    const resolver = {
      config: { server: ['198.51.100.53'], search: ['shop.example.com'] },
    };
    const { value } = readDocument(host.read('/applied'));
    t.match(value, { 'dns-resolver': resolver });
    if (before !== undefined) {
      const { value: next } = readDocument(host.read('/etc/sno-agents/network.yml'));
      t.match(next, { ...kept, 'dns-resolver': resolver }, 'at the next boot');
    }
    host.write('/etc/resolv.conf', 'search other.example.com\nnameserver 198.51.100.53\n');
    t.notOk(await holds(siteNetwork), 'another search domain');
  });
}

const ROUTES = (gateway: string) => `case "$*" in
*" address show") cat <<'END'
[{"ifname":"br-node","addr_info":[{"local":"192.0.2.10","prefixlen":32,"scope":"global"}]}]
END
;;
"-4 -json route show default") echo '[{"dst":"default","gateway":"198.51.100.9","dev":"eno2","metric":200},{"dst":"default","gateway":"${gateway}","dev":"eno1","metric":100}]' ;;
"-6 -json route show default") echo '[]' ;;
"-json neighbour show to ${gateway} dev eno1") cat "$ROOT/neighbour" ;;
*) exit 97 ;;
esac`;

t.test('network: a site without siteChecks is kept once its gateway answers', async (t) => {
  const { host, context, run, holds } = await arrived(t, { config: `${SITE}siteChecks: []\n` });
  host.write('/etc/resolv.conf', '# none\nnameserver 127.0.0.53\n');
  host.programs.give('ip', ROUTES('198.51.100.1'));
  host.programs.give('ping', 'exit 1');
  host.write('/neighbour', '[{"dst":"198.51.100.1","state":["FAILED"]}]');
  const failure = await thrownBy(siteNetwork.run(context, host.progress(undefined, 10)));
  t.match(failure, {
    kind: 'fatal',
    code: 'site-check',
    message: /no answer from the gateway 198\.51\.100\.1 on eno1.*Check the cable in eno1/,
  });
  t.equal(host.programs.calls('nmstatectl').at(-1), 'nmstatectl rollback');
  host.write('/neighbour', '[{"dst":"198.51.100.1","state":["REACHABLE"]}]');
  t.ok((await run(siteNetwork)).kind === 'done', 'it drops echo requests alone');
  host.programs.give('ping', '[ "$*" = "-c 1 -W 4 -I eno1 198.51.100.1" ]');
  host.write('/neighbour', '[]');
  t.ok(await holds(siteNetwork));
});

t.test(
  'network: the name servers of the site are asked, not that of the host itself',
  async (t) => {
    const { host, context, run } = await arrived(t, { config: `${SITE}siteChecks: []\n` });
    host.write('/etc/resolv.conf', 'nameserver 127.0.0.53\nnameserver 198.51.100.53\n');
    host.programs.give('ip', ROUTES('198.51.100.1'));
    host.programs.give('ping', 'exit 0');
    const asked: string[] = [];
    let code = 'ETIMEOUT';
    t.capture(Resolver.prototype, 'resolve4', async function (this: Resolver) {
      asked.push(...this.getServers());
      throw Object.assign(new Error(code), { code });
    });
    t.match(await thrownBy(siteNetwork.run(context, host.progress(undefined, 10))), {
      code: 'site-check',
      message: /no answer from the name server 198\.51\.100\.53 \(/,
    });
    code = 'ENOTFOUND';
    t.match(await run(siteNetwork), { kind: 'done' }, 'it knows no such name, and has answered');
    t.same([...new Set(asked)], ['198.51.100.53']);
  },
);

t.test('network: one without gateway, name server and siteChecks is refused', async (t) => {
  const { host, context } = await arrived(t, { config: `${SITE}siteChecks: []\n` });
  host.write('/etc/resolv.conf', 'nameserver ::1\n');
  host.programs.give('ip', ROUTES('').replace(/\[\{"dst".*\}\]/, '[]'));
  const failure = await thrownBy(siteNetwork.run(context, host.progress(undefined, 10)));
  t.match(failure, {
    code: 'site-check',
    message: /no gateway and no name server.*siteChecks what must answer/,
  });
  t.notOk(host.programs.calls('nmstatectl').includes('nmstatectl commit'));
});

t.test('name servers: one has to answer, whatever it says', async (t) => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  socket.on('message', (message, { port, address }) => {
    const answer = Buffer.from(message);
    // A response; the name does not exist.
    answer[2] = 0x81;
    answer[3] = 0x83;
    socket.send(answer, port, address);
  });
  const ask = (...nameServers: string[]) =>
    silentNeighbours(
      { gateways: [], nameServers },
      'api.shop.example.com',
      AbortSignal.timeout(60_000),
    );
  const good = `127.0.0.1:${socket.address().port}`;
  t.same(await ask(good), []);
  t.same(await ask('127.0.0.1:1', good), [], 'one of two');
  t.match(await ask('127.0.0.1:1'), [
    { found: /no answer from the name server 127\.0\.0\.1:1 \(.+\)/, fix: /\(dns\)/ },
  ]);
});

t.test("name servers: one of a router's advertisement is asked for as a neighbour", async (t) => {
  const { host } = await arrived(t);
  host.programs.give('ping', '[ "$*" = "-c 1 -W 4 -I eno1 fe80::1" ]');
  host.programs.give('ip', 'echo "[]"');
  const ask = (...nameServers: string[]) =>
    silentNeighbours({ gateways: [], nameServers }, 'a.test', AbortSignal.timeout(60_000));
  t.same(await ask('fe80::1%eno1'), []);
  t.match(await ask('fe80::2%eno1'), [{ found: /no answer from the name server fe80::2%eno1/ }]);
});

t.test(
  'network: an adapter that is down cannot tell of its cable, and is brought up',
  async (t) => {
    const { host, run } = await arrived(t);
    // What cannot be read: for an adapter that is down, the kernel answers EINVAL.
    host.remove('/sys/class/net/eno1/carrier');
    mkdirSync(host.at('/sys/class/net/eno1/carrier'));
    t.match(await run(siteNetwork), { kind: 'done' });
    t.ok(host.programs.calls('nmstatectl').includes('nmstatectl commit'));
  },
);

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
    says: /^no link on eno1 \(MAC address 52:54:00:12:34:56\)\. Check the cable in eno1, .* again\.$/,
    code: 'site-link',
  },
  {
    name: 'the cable in another port',
    prepare: (host) => {
      host.write('/sys/class/net/eno1/carrier', '0\n');
      for (const name of ['eno7', 'br-x']) host.write(`/sys/class/net/${name}/carrier`, '1\n');
      host.write('/sys/class/net/eno7/address', '52:54:00:00:00:07\n');
      host.write('/sys/class/net/eno7/device/vendor');
    },
    says: /insert the volume again\. There is one in eno7 \(MAC address 52:54:00:00:00:07\)\.$/,
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
    says: /br-node does not have the address 192\.0\.2\.10/,
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
    name: 'a server that is not there',
    more: 'siteChecks:\n  - tcp: closed.invalid:1\n',
    prepare: () => undefined,
    says: /no answer from closed\.invalid port 1/,
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
    const failure = await thrownBy(siteNetwork.run(context, progress));
    t.match(failure, { kind: 'fatal', code, message: says });
    const calls = host.programs.calls('nmstatectl');
    t.notOk(calls.includes('nmstatectl commit'), 'nothing is kept');
    if (calls.some((call) => call.includes('--memory-only')) && code === 'site-check') {
      t.equal(calls.at(-1), 'nmstatectl rollback');
    }
    t.notOk(await holds(siteNetwork));
  });
}
