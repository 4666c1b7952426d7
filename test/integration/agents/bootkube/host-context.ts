import { hostname } from 'node:os';
import t from 'tap';
import { hostContext, installContext } from '../../../../agents/steps/host-context.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { bootTime } from '../../../../lib/host/systemd.ts';
import { cluster } from '../../../unit/agents/host/cluster.ts';
import { testHost } from '../../../unit/agents/host/host.ts';

const CLUSTER = '/etc/sno-agents/cluster.json';
const { installation: _, ...withoutDisk } = cluster;

t.test('the host as passed to a step', async (t) => {
  const host = testHost(t);
  host.write(CLUSTER, JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', '{"retryMs":1234}');
  const settings = { ...defaultSettings, retryMs: 1234 };
  const { paths } = host;
  t.match(await installContext(paths), { paths, settings, cluster, hostname, bootTime });
  t.match(await hostContext(paths), { paths, settings, cluster: withoutDisk, hostname, bootTime });
  t.equal((await hostContext(paths)).hostname(), hostname());
});

t.test('a cluster without a disk can be described, but not installed', async (t) => {
  const host = testHost(t);
  host.write(CLUSTER, JSON.stringify(withoutDisk));
  t.strictSame((await hostContext(host.paths)).cluster, withoutDisk);
  await t.rejects(installContext(host.paths), { kind: 'usage', message: /cluster\.json/ });
});
