import t, { type Test } from 'tap';
import { acceptedChange } from '../../../../agents/upkeep/identity/accept.ts';
import { runIdentity } from '../../../../agents/upkeep/identity/main.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { identityOf } from '../../../../lib/change/identity/identity.ts';
import { identityChange } from '../../../../lib/change/identity/request.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { input, rendered, servingPair } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { apiOf } from './earlier-authority.ts';

const FOLDER = '/var/lib/sno-agents/sno-identity';
const from = identityOf(input);
const OPENSHIFT = {
  controlPlane: 'openshift',
  openshift: {
    ...{ releaseImage: 'r.test/release:1', version: '4.21', clusterId: cluster.clusterId },
    ...{ infrastructureName: 'edge-x1', platform: 'none' },
  },
};

/** An installed host whose systemd ends each change at once. */
async function installed(t: Test, installedWith = input) {
  const { url, longestMs } = await apiOf(t, servingPair, {
    'GET /api/v1/nodes/worker-0': { metadata: { name: 'worker-0' } },
    'GET /api/v1/nodes/edge-0': { metadata: { name: 'edge-0' } },
  });
  const host = testHost(t, { endpoints: { api: url } });
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/var/lib/sno-agents/record.json', '{}');
  await saveRenderInput(host.paths, installedWith);
  giveAddresses(host, '192.0.2.10/24', '198.51.100.7/25', '2001:db8:1::7/64');
  const ends = `cd "$ROOT${FOLDER}" && [ "$1" = start ] && cp request.json started.json && mv request.json last.json; exit 0`;
  host.programs.give('systemctl', ends);
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const code = await runIdentity(host.paths, args, {
      write: (text) => void printed.push(text),
      isJournal: false,
    });
    return { code, printed: printed.join(''), errors: errors.splice(0).join('') };
  };
  return { host, run, longestMs };
}

t.test('a change is requested, and waited for', async (t) => {
  const { host, run } = await installed(t);
  const table: [args: string[], to: object, prints: RegExp][] = [
    [['--hostname', 'edge-9'], { hostname: 'edge-9' }, /name edge-0 -> edge-9\n.*Every pod/s],
    [
      ['--address', '198.51.100.7'],
      { nodeIps: ['198.51.100.7'], machineNetwork: ['198.51.100.0/25'] },
      /address 192\.0\.2\.10 -> 198\.51\.100\.7\n.*Pods in the network of the host/s,
    ],
    [
      ['--cluster-name', 'shop', '--base-domain', 'example.org'],
      { clusterName: 'shop', baseDomain: 'example.org' },
      /domain \S+ -> shop\.example\.org/,
    ],
  ];
  for (const [args, changed, prints] of table) {
    const { code, printed } = await run('change', ...args, '--yes');
    t.equal(code, 0, args.join(' '));
    t.match(printed, prints);
    t.match(printed, /The identity is changed\./);
    const request = JSON.parse(host.read(`${FOLDER}/started.json`));
    t.strictSame(request.from, from);
    t.strictSame(request.to, { ...from, ...changed });
    t.equal(host.mode(`${FOLDER}/started.json`), 0o600);
  }
});

t.test('a host with addresses of both families gets one of each, in their order', async (t) => {
  const machineNetwork = ['192.0.2.0/24', '2001:db8::/64'];
  const { host, run } = await installed(t, {
    ...input,
    cluster: { ...input.cluster, machineNetwork },
    host: { ...input.host, nodeIps: ['192.0.2.10', '2001:db8::10'] },
  });
  const given = (...addresses: string[]) =>
    run('change', '--yes', ...addresses.flatMap((address) => ['--address', address]));
  for (const addresses of [
    ['192.0.2.10'],
    ['2001:db8:1::7', '198.51.100.7'],
    ['198.51.100.7', 'edge'],
    ['198.51.100.7', '198.51.100.8'],
    ['198.51.100.7', '2001:db8:1::7', '2001:db8:1::8'],
  ]) {
    t.match(await given(...addresses), {
      code: 2,
      errors: `--address has to be given for each family of the cluster, in its order (IPv4, IPv6); found ${addresses.join(', ')}`,
    });
  }
  t.equal((await given('198.51.100.7', '2001:db8:1:0::7')).code, 0);
  const { to } = JSON.parse(host.read(`${FOLDER}/started.json`));
  t.same(to.nodeIps, ['198.51.100.7', '2001:db8:1::7']);
  t.same(to.machineNetwork, ['198.51.100.0/25', '2001:db8:1::/64']);
});

t.test('everything that prevents it is said', async (t) => {
  const { host, run } = await installed(t);
  host.remove('/var/lib/sno-agents/record.json');
  host.write('/var/lib/sno-agents/sno-update/request.json', '{}');
  const { code, errors } = await run('change', '--hostname', 'Edge_9', '--base-domain', 'a..b');
  t.equal(code, 2);
  for (const each of [
    /an update is under way/,
    /not complete/,
    /--hostname is/,
    /--base-domain is/,
  ])
    t.match(errors, each);
  const asked = { hostname: 'Edge_9', baseDomain: 'a..b' };
  const error = await thrownBy(acceptedChange(host.paths, asked, AbortSignal.timeout(60_000)));
  t.match(error, { details: { parts: { length: 4 } } }, 'each of them for programs');
});

t.test('without a change there is nothing to run', async (t) => {
  const { run } = await installed(t);
  t.match(await run('run'), { code: 2, printed: /no change of the identity was requested/ });
});

t.test('an API server that does not answer prevents nothing', async (t) => {
  const { host, run } = await installed(t);
  host.remove('/etc/kubernetes/pki/ca/admin/ca.key');
  t.match(await run('change', '--hostname', 'worker-0', '--yes'), { code: 0 });
});

t.test('a change that cannot be made is refused, and nothing is written', async (t) => {
  const { host, run, longestMs } = await installed(t);
  const refused = async (says: RegExp, ...args: string[]) => {
    const result = await run('change', ...args);
    t.match(result, { code: 2, errors: says }, args.join(' '));
    t.same(host.programs.calls('systemctl'), []);
    t.equal(await identityChange.read(host.paths).catch(() => undefined), undefined);
    return result.printed;
  };
  const ok = ['--hostname', 'edge-9'];
  await refused(/nothing would change; found edge-0, 192\.0\.2\.10/);
  await refused(/nothing would change/, '--hostname', 'edge-0');
  await refused(/--hostname is not the name of a host; found localhost/, '--hostname', 'localhost');
  await refused(/--hostname is not the name of a host/, '--hostname', 'Edge_9');
  await refused(/--cluster-name is not/, '--cluster-name', '-x');
  await refused(/--base-domain is not a domain/, '--base-domain', 'a..b');
  await refused(
    /--address has to be given for each family.*\(IPv4\); found 2001:db8::1/,
    '--address',
    '2001:db8::1',
  );
  await refused(/--address/, '--address', '192.0.2.10', '--address', '192.0.2.11');
  await refused(/--address/, '--address', 'edge');
  await refused(/has a Node worker-0.*Delete it/, '--hostname', 'worker-0', '--yes');
  t.ok(longestMs() > 0 && longestMs() < 120_000, 'its rights end with the question');
  t.match(await refused(/not confirmed.*--yes/, ...ok), /name edge-0 -> edge-9\n/, 'of what');
  for (const [path, says] of [
    ['sno-rotate/request.json', /a rotation of CAs or keys is under way/],
    ['sno-backup-restore/request.json', /a backup is being restored/],
    ['sno-update/request.json', /an update is under way/],
  ] as const) {
    host.write(`/var/lib/sno-agents/${path}`, '{}');
    await refused(says, ...ok, '--yes');
    host.remove(`/var/lib/sno-agents/${path}`);
  }
  host.remove('/var/lib/sno-agents/record.json');
  await refused(/the installation is not complete/, ...ok, '--yes');
  host.remove('/etc/sno-agents/render-input.json');
  await refused(/expected .*render-input\.json/, ...ok, '--yes');
  host.write('/etc/sno-agents/cluster.json', JSON.stringify({ ...cluster, ...OPENSHIFT }));
  await saveRenderInput(host.paths, input);
  await refused(/control planes of kind openshift are not supported/, ...ok, '--yes');
});

t.test('what was requested while a person was asked comes first', async (t) => {
  const { host } = await installed(t);
  // The command says what would change between its judgement and its request.
  const write = () => host.write('/var/lib/sno-agents/sno-rotate/request.json', '{}');
  t.equal(await runIdentity(host.paths, ['change', '--hostname', 'edge-9', '--yes'], { write }), 2);
  t.equal(await identityChange.read(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), []);
});

t.test('the end of an earlier change is not that of this one', async (t) => {
  const { host, run } = await installed(t);
  t.equal((await run('change', '--hostname', 'edge-9', '--yes')).code, 0);
  host.programs.give('systemctl', 'exit 1');
  t.match(await run('change', '--hostname', 'edge-8', '--yes'), {
    code: 1,
    errors: /the change has not ended/,
  });
});

t.test('nobody has to wait', async (t) => {
  const { host, run } = await installed(t);
  host.programs.give('systemctl', 'exit 0');
  const { code, printed } = await run('change', '--hostname', 'edge-9', '--yes', '--no-wait');
  t.equal(code, 0);
  t.match(printed, /continues without this command\. "sno-identity status" prints its state\.\n$/);
  t.match(await identityChange.read(host.paths), { to: { hostname: 'edge-9' } });
  t.same(host.programs.calls(), ['systemctl start --no-block sno-identity.service']);
});

t.test('a change that has not ended says why, and how it goes on', async (t) => {
  const { host, run } = await installed(t);
  const failure = failureData(new Failure('deadline', 'the API server is not ready'));
  host.write(
    '/run/sno-agents/sno-identity/status.json',
    JSON.stringify({
      ...{ schemaVersion: 1, agent: 'sno-identity', version: '1', state: 'failed', failure },
      ...{ unit: 'sno-identity', started: '2030-01-01T00:00:00Z', updated: '2030-01-01T00:00:00Z' },
    }),
  );
  host.programs.give('systemctl', 'exit 1');
  const result = await run('change', '--hostname', 'edge-9', '--yes');
  t.match(result, {
    code: 3,
    errors: /the change has not ended.*systemctl start sno-identity\.service/s,
  });
  t.match(result.errors, /the API server is not ready/);
  const again = await run('change', '--hostname', 'edge-8', '--yes');
  t.match(again, {
    code: 2,
    errors: /another change is under way; found name edge-0 -> edge-9/,
  });
  t.notMatch(again.errors, /is getting another name/, 'it is said once');
  host.remove('/run/sno-agents/sno-identity/status.json');
  host.remove(`${FOLDER}/request.json`);
  t.match(await run('change', '--hostname', 'edge-9', '--yes'), { code: 1 }, 'it may be repeated');
});
