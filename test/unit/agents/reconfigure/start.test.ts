/** What the step start leaves to others, on a host in a folder. */
import t, { type Test } from 'tap';
import { wantedIdentity } from '../../../../agents/reconfigure/context.ts';
import { startAtSite } from '../../../../agents/reconfigure/start.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { identityChange, requestIdentity } from '../../../../lib/change/identity/request.ts';
import { readFactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { refuse } from '../host/api.ts';
import { signedApi, type WritableEndpoints } from '../host/approver.ts';
import { arrived, SITE } from './site-host.ts';

const SEAL = '/etc/sno-agents/sealed';
const IDENTITY_REQUEST = '/var/lib/sno-agents/sno-identity/request.json';
/** A site with the names of the factory. */
const SAME = `api_version: 1
cluster_name: edge
base_domain: example.test
`;

/** A host at its site, with an API that may not be ready. */
async function starting(t: Test, config: string) {
  const endpoints: WritableEndpoints = {};
  const it = await arrived(t, { config, endpoints });
  let isReady = true;
  const { requests } = await signedApi(t, it.host, endpoints, {
    'GET /readyz': () => (isReady ? {} : refuse(500, 'starting')),
  });
  it.host.programs.give('systemctl', 'exit 0');
  return {
    ...it,
    requests,
    ready(is: boolean) {
      isReady = is;
    },
  };
}

t.test(
  'start: a change of the identity, which leaves the wait for rest to the last step',
  async (t) => {
    const { host, run, context, request } = await arrived(t);
    host.programs.give('systemctl', 'exit 0');
    t.match(
      await thrownBy(run(startAtSite)),
      { message: /could not be given its name/ },
      'no agent ran',
    );
    const change = { from: request.from, to: wantedIdentity(context), settlesLater: true };
    t.match(await identityChange.read(host.paths), change);
    const failure = failureData(new Failure('fatal', 'full', { code: 'disk-full' }));
    host.write(
      '/run/sno-agents/sno-identity/status.json',
      JSON.stringify({
        ...{ schemaVersion: 1, agent: 'sno-identity', version: '1', unit: 'sno-identity' },
        ...{ state: 'failed', failure },
        ...{ started: '2030-01-01T00:00:00Z', updated: '2030-01-01T00:00:00Z' },
      }),
    );
    const said = { code: 'disk-full', details: { cause: { what: 'full' } } };
    t.match(await thrownBy(run(startAtSite)), said, 'that agent says why');
  },
);

t.test('start: a site with the names of the factory only starts the kubelet', async (t) => {
  const it = await starting(t, SAME);
  t.notOk(await it.holds(startAtSite), 'it is sealed');
  let outcome: unknown;
  await waitsForEachEffect(t, async () => {
    outcome = await it.run(startAtSite);
  });
  t.same(outcome, { kind: 'done', note: 'edge-0, 192.0.2.10, edge.example.test' });
  t.notOk(it.host.has(SEAL));
  t.same(it.host.programs.calls('systemctl'), ['systemctl restart kubelet.service']);
  t.notOk(it.host.has(IDENTITY_REQUEST));
  t.ok(it.requests.includes('GET /readyz'), 'the API is waited for');
  t.ok(await it.holds(startAtSite));
  it.ready(false);
  t.notOk(await it.holds(startAtSite), 'the API is not ready');
  it.ready(true);
  it.host.write(SEAL);
  t.notOk(await it.holds(startAtSite), 'it is sealed again');
  it.host.remove(SEAL);
  const { from } = it.request;
  await requestIdentity(it.host.paths, { from, to: { ...from, hostname: 'other' } });
  t.notOk(await it.holds(startAtSite), 'a change of the identity is under way');
});

t.test(
  'start: a change of the identity that is under way is continued, not begun anew',
  async (t) => {
    const it = await starting(t, SITE);
    t.match(await thrownBy(it.run(startAtSite)), { message: /could not be given its name/ });
    const begun = await identityChange.read(it.host.paths);
    t.notOk(it.host.has(SEAL), 'or the kubelet would not start');
    const starts = () => it.host.programs.calls('systemctl start sno-identity.service').length;
    t.equal(starts(), 1);
    it.host.programs.give(
      'systemctl',
      `cp "$ROOT${IDENTITY_REQUEST}" "$ROOT/seen.json" && rm "$ROOT${IDENTITY_REQUEST}"`,
    );
    t.match(await it.run(startAtSite), { kind: 'done', note: /shop\.example\.com$/ });
    t.same(JSON.parse(it.host.read('/seen.json')), begun, 'the same request');
    t.notOk(await it.holds(startAtSite), 'not before the host has the identity of the site');
  },
);

t.test('start: the policy of the factory follows the name of the Node', async (t) => {
  for (const [config, name] of [
    [SITE, 'edge-0'],
    [`${SITE}renameNode: true\n`, 'till-7'],
  ] as const) {
    const it = await starting(t, config);
    const before = it.host.read('/etc/sno-agents/factory.json');
    it.host.programs.give('systemctl', `rm -f "$ROOT${IDENTITY_REQUEST}"`);
    await it.run(startAtSite);
    const policy = await readFactoryPolicy(it.host.paths);
    t.same(policy, { ...JSON.parse(before), nodeName: name });
  }
});

t.test('start: the Node gets the one address that the host has of the site', async (t) => {
  const config = `${SITE}nodeAddress: site\nmachine_networks: [198.51.100.0/24]\n`;
  const addresses = (...all: readonly (readonly [name: string, local: string])[]) =>
    JSON.stringify(
      all.map(([ifname, local]) => ({
        ifname,
        addr_info: [{ local, prefixlen: 24, scope: 'global' }],
      })),
    );
  for (const [has, given] of [
    [[['eno1', '198.51.100.20']], ['198.51.100.20']],
    [
      [
        ['eno1', '198.51.100.20'],
        ['eno2', '203.0.113.9'],
        // That of the cluster itself is none of the site.
        ['br-node', '198.51.100.77'],
      ],
      ['198.51.100.20'],
    ],
    [[['eno1', '203.0.113.9']], 'found none'],
    [
      [
        ['eno1', '198.51.100.20'],
        ['eno2', '198.51.100.21'],
      ],
      'found 198.51.100.20, 198.51.100.21',
    ],
  ] as const) {
    const it = await starting(t, config);
    it.host.programs.give('ip', `cat <<'END'\n${addresses(...has)}\nEND`);
    const error = await thrownBy(it.run(startAtSite));
    const begun = await identityChange.read(it.host.paths);
    if (typeof given === 'string') {
      const message = new RegExp(`expected an address in 198\\.51\\.100\\.0/24; ${given}\\b`);
      t.match(error, { kind: 'fatal', code: 'address-missing', message });
      t.equal(begun, undefined);
    } else {
      t.match(begun?.to, { nodeIps: given, machineNetwork: ['198.51.100.0/24'] });
    }
  }
});
