import t from 'tap';
import { hostIdentity } from '../../../../agents/bootkube/handover/host-identity.ts';
import type { Config } from '../../../../lib/ignition/config.ts';
import { decodeDataUrl } from '../../../../lib/ignition/data-url.ts';
import { siteCluster } from '../../render/site-cluster.ts';
import { liveHost } from '../live-host.ts';

const INTERN = '/var/lib/NetworkManager/NetworkManager-intern.conf';
const nameServers = '[.intern.global-dns-domain-*]\nservers=192.168.7.1\n';

const paths = ({ storage }: Config) => storage?.files?.map(({ path }) => path);

t.test('name servers that are in no profile go to the installed host', async (t) => {
  const { context, write, paths: host } = liveHost(t.testdir());
  write(host.at(INTERN), nameServers);
  const config = await hostIdentity({ ...context, cluster: siteCluster });
  const source = config.storage?.files?.find(({ path }) => path === INTERN)?.contents;
  t.equal(source && decodeDataUrl(source).toString(), nameServers);
  t.match(
    config.storage?.directories?.find(({ path }) => path === '/var/lib/NetworkManager'),
    { mode: 0o700 },
    'as closed as NetworkManager makes it',
  );
});

t.test('without a networkConfig, or without name servers, there are none', async (t) => {
  const { context, write, paths: host } = liveHost(t.testdir());
  const own = ['/etc/NetworkManager/conf.d/90-sno-dhcp-identity.conf', '/etc/hostname'];
  t.same(paths(await hostIdentity({ ...context, cluster: siteCluster })), own);
  write(host.at(INTERN), nameServers);
  t.same(paths(await hostIdentity(context)), own);
});
