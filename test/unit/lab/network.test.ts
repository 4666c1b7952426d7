import t from 'tap';
import { type DnsRecord, dnsmasqArguments } from '../../../lab/host/network.ts';

const host = { name: 'sno', mac: '52:54:00:00:00:0a', address: '192.168.126.10' };
const domain = 'lab.example.test';
const recordArguments: Readonly<Record<DnsRecord, string>> = {
  api: `--host-record=api.${domain},${host.address}`,
  'api-int': `--host-record=api-int.${domain},${host.address}`,
  apps: `--address=/apps.${domain}/${host.address}`,
  host: `--host-record=sno.${domain},sno,${host.address}`,
};
const names: readonly DnsRecord[] = ['api', 'api-int', 'apps', 'host'];

t.test('a whole site has every record and a fixed lease', async (t) => {
  const args = dnsmasqArguments({ domain, host }, '/run/x');
  for (const name of names) t.ok(args.includes(recordArguments[name]), name);
  t.ok(args.includes(`--dhcp-host=${host.mac},set:sno,${host.address},infinite`));
});

for (const missing of names) {
  t.test(`a site without ${missing} lacks exactly that record`, async (t) => {
    const args = dnsmasqArguments({ domain, host, withoutRecords: [missing] }, '/run/x');
    for (const name of names) t.equal(args.includes(recordArguments[name]), name !== missing, name);
    t.ok(
      args.some((argument) => argument.startsWith('--dhcp-host=')),
      'DHCP goes on',
    );
  });
}
