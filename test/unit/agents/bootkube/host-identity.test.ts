import t from 'tap';
import { hostIdentity } from '../../../../agents/bootkube/handover/host-identity.ts';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import { dhcpIdentity } from '../../../../lib/cluster/installation/dhcp-identity.ts';
import { siteCluster } from '../../render/site-cluster.ts';
import { type TestHost, testHost } from '../host/host.ts';

const INTERN = '/var/lib/NetworkManager/NetworkManager-intern.conf';
const nameServers = '[.intern.global-dns-domain-*]\nservers=192.168.7.1\n';
const withNetwork = { cluster: { networkConfig: siteCluster.networkConfig ?? '' } };

/** Mode and contents that the identity gives the host, by path. */
async function identityOf(host: TestHost) {
  const { storage } = await hostIdentity(host.context);
  return {
    files: storage?.files?.map(({ path, mode, contents }) => [
      path,
      mode,
      decodeDataUrl(contents ?? {}).toString(),
    ]),
    closed: storage?.directories?.filter(({ mode }) => mode === 0o700).map(({ path }) => path),
  };
}

const own = [
  ['/etc/NetworkManager/conf.d/90-sno-dhcp-identity.conf', 0o644, dhcpIdentity.contents],
  ['/etc/hostname', 0o644, 'edge-0\n'],
];

t.test('name servers that are in no profile are copied to the installed host', async (t) => {
  const host = testHost(t, withNetwork);
  host.write(INTERN, nameServers);
  t.same(await identityOf(host), {
    files: [...own, [INTERN, 0o644, nameServers]],
    // As NetworkManager creates it.
    closed: ['/var/lib/NetworkManager'],
  });
});

t.test('without a networkConfig, or without name servers, there are none', async (t) => {
  const none = { files: own, closed: [] };
  t.same(await identityOf(testHost(t, withNetwork)), none);
  const host = testHost(t);
  host.write(INTERN, nameServers);
  t.same(await identityOf(host), none);
});
