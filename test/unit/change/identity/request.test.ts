import t from 'tap';
import { identityOf } from '../../../../lib/change/identity/identity.ts';
import { identityChange, requestIdentity } from '../../../../lib/change/identity/request.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { input } from '../../render/rendered-host.ts';

const from = identityOf(input);
const to = {
  hostname: 'edge-9',
  nodeIps: ['198.51.100.7', '2001:db8::7'] as [string, string],
  machineNetwork: ['198.51.100.0/24', '2001:db8::/64'],
  clusterName: 'shop',
  baseDomain: 'example.org',
};

t.test('a request is read as it was asked for, with nothing else', async (t) => {
  const all = {
    backup: 'b',
    keepsAuthorities: true,
    isFollowing: true,
    settlesLater: true,
  } as const;
  for (const more of [{}, all]) {
    const paths = hostPaths(t.testdir());
    const begun = Date.now();
    const { id, at, ...request } = await requestIdentity(paths, { from, to, ...more });
    t.strictSame(request, { schemaVersion: 1, from, to, ...more });
    t.ok(Date.parse(at) >= begun);
    t.strictSame(await identityChange.read(paths), { id, at, ...request });
    await identityChange.end(paths, (it) => it);
    t.strictSame(await identityChange.last(paths), { id, at, ...request });
  }
});

t.test('the steps of another request are done anew', async (t) => {
  const paths = hostPaths(t.testdir());
  const { id } = await requestIdentity(paths, { from, to });
  t.not((await requestIdentity(paths, { from, to })).id, id);
});

t.test('a host without a machine network is none', async (t) => {
  const paths = hostPaths(t.testdir());
  await requestIdentity(paths, { from, to: { ...to, machineNetwork: [] } });
  await t.rejects(identityChange.read(paths), { message: /machineNetwork/ });
});
