import t from 'tap';
import { dhcpIdentity } from '../../../../lib/cluster/installation/dhcp-identity.ts';

t.test('the host requests the same addresses as the live image', async (t) => {
  const { path, contents } = dhcpIdentity;
  t.equal(path, '/etc/NetworkManager/conf.d/90-sno-dhcp-identity.conf');
  const [section, ...settings] = contents.trimEnd().split('\n');
  t.equal(section, '[connection]', 'defaults of every connection');
  t.strictSame(Object.fromEntries(settings.map((line) => line.split('='))), {
    'ipv4.dhcp-client-id': 'mac',
    'ipv6.dhcp-duid': 'll',
    'ipv6.dhcp-iaid': 'mac',
    'ipv6.addr-gen-mode': 'eui64',
    'ipv6.ip6-privacy': '0',
  });
});
