import { mkdir, writeFile } from 'node:fs/promises';
import t from 'tap';
import { dnsChecks } from '../../../../agents/steps/preflight/dns.ts';
import {
  giveRecords,
  inputFor,
  ipv4,
  ipv6,
  NETWORKS,
  type Records,
  resolveBy,
} from '../../../unit/agents/bootkube/check-input.ts';

function checkNamed(wanted: string) {
  const check = dnsChecks.find(({ name }) => name === wanted);
  if (check === undefined) throw new Error(`there is no check ${wanted}`);
  return check;
}

t.test('the names that have to resolve to the host', async (t) => {
  const names = {
    'dns-api': 'api.edge.example.test',
    'dns-api-int': 'api-int.edge.example.test',
    // Any name below *.apps shows that the wildcard exists.
    'dns-apps': /^[\w-]+\.apps\.edge\.example\.test$/,
    'dns-hostname': 'edge-0',
  };
  giveRecords(t, {});
  t.same(
    dnsChecks.map(({ name }) => name),
    Object.keys(names),
  );
  for (const [name, fqdn] of Object.entries(names)) {
    const check = checkNamed(name);
    t.equal(check.code, 'dns-record-missing', name);
    const finding = await check.run(inputFor(t, [ipv4], ['192.0.2.0/24'], 'edge-0'));
    t.match(finding, { ok: false, subject: fqdn, problem: /ENOTFOUND/ }, name);
  }
});

t.test('each name has a record of each family of the machine networks', async (t) => {
  const A = { 'edge-0 4': ['192.0.2.10'] };
  const AAAA = { 'edge-0 6': ['2001:DB8:0::10'] };
  const add = (what: string) => `Add a DNS record for edge-0 with the address ${what}.`;
  const v4 = ['192.0.2.0/24'];
  const table: [title: string, Records, networks: string[], ok: boolean, string, fix?: string][] = [
    ['IPv4', A, v4, true, 'edge-0 is 192.0.2.10'],
    ['IPv6', AAAA, ['2001:db8::/64'], true, 'edge-0 is 2001:db8::10'],
    ['both', { ...A, ...AAAA }, NETWORKS, true, 'edge-0 is 192.0.2.10, 2001:db8::10'],
    [
      'one of several',
      { 'edge-0 4': ['192.0.2.7', '192.0.2.10'] },
      v4,
      true,
      'edge-0 is 192.0.2.7, 192.0.2.10',
    ],
    [
      'no AAAA record',
      A,
      NETWORKS,
      false,
      'edge-0 does not resolve to this host: getaddrinfo ENOTFOUND edge-0',
      add('2001:db8::10 (AAAA)'),
    ],
    [
      'no A record',
      { ...AAAA, 'edge-0 4': [] },
      NETWORKS,
      false,
      'edge-0 does not resolve to this host: no address',
      add('192.0.2.10 (A)'),
    ],
    [
      'those of another host',
      { 'edge-0 4': ['192.0.2.11', '192.0.2.12'] },
      v4,
      false,
      'edge-0 does not resolve to this host: 192.0.2.11, 192.0.2.12',
      add('192.0.2.10 (A)'),
    ],
  ];
  for (const [title, records, networks, ok, text, fix] of table) {
    await t.test(title, async (t) => {
      giveRecords(t, records);
      const finding = await checkNamed('dns-hostname').run(
        inputFor(t, [ipv4, ipv6], networks, 'edge-0'),
      );
      const expected = ok ? { ok, fact: text } : { ok, problem: text, fix, subject: 'edge-0' };
      t.same(finding, expected);
    });
  }
});

t.test('a domain name is asked as it is, but for one in the hosts file', async (t) => {
  const asked: string[] = [];
  resolveBy(t, async (name) => {
    asked.push(name);
    return ['192.0.2.10'];
  });
  const input = inputFor(t, [ipv4], ['192.0.2.0/24'], 'edge-0.example.test');
  for (const name of ['dns-hostname', 'dns-api']) {
    t.match(await checkNamed(name).run(input), { ok: true }, name);
  }
  t.same(asked, ['edge-0.example.test.', 'api.edge.example.test.']);
  asked.length = 0;
  const hosts = '127.0.0.1 localhost # api.edge.example.test\n192.0.2.10\tx edge-0.example.test\n';
  await mkdir(input.paths.at('/etc'), { recursive: true });
  await writeFile(input.paths.at('/etc/hosts'), hosts);
  for (const name of ['dns-hostname', 'dns-api']) await checkNamed(name).run(input);
  t.same(asked, ['edge-0.example.test', 'api.edge.example.test.']);
});

t.test('a host without an address yet has no name', async (t) => {
  giveRecords(t, { 'edge-0 4': ['192.0.2.10'] });
  const finding = await checkNamed('dns-hostname').run(inputFor(t, [], ['192.0.2.0/24'], 'edge-0'));
  t.match(finding, { ok: false, fix: /with the address of this host \(A\)/ });
});

t.test('name servers that do not answer are not awaited after the signal', async (t) => {
  const stop = new AbortController();
  resolveBy(t, () => new Promise(() => {}));
  const input = { ...inputFor(t, [ipv4], ['192.0.2.0/24'], 'edge-0'), signal: stop.signal };
  const before = checkNamed('dns-hostname').run(input);
  stop.abort();
  const after = checkNamed('dns-api').run(input);
  for (const finding of [await before, await after]) {
    t.match(finding, { ok: false, problem: /did not answer in time/ });
  }
});
