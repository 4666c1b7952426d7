import t from 'tap';
import { type DnsRecord, dnsmasqArguments } from '../../../lab/host/network.ts';
import { type Families, hostOf } from '../../../lab/site.ts';

const domain = 'lab.example.test';
const names: readonly DnsRecord[] = ['api', 'api-int', 'apps', 'host'];

interface Site {
  families: Families;
  records: Readonly<Record<DnsRecord, readonly string[]>>;
  others: readonly string[];
}

const SITES: readonly Site[] = [
  {
    families: ['IPv4'],
    records: {
      api: [`--host-record=api.${domain},192.168.126.10`],
      'api-int': [`--host-record=api-int.${domain},192.168.126.10`],
      apps: [`--address=/apps.${domain}/192.168.126.10`],
      host: [`--host-record=sno.${domain},sno,192.168.126.10`],
    },
    others: [
      '--dhcp-host=52:54:00:00:00:0a,set:sno,192.168.126.10,infinite',
      '--dhcp-range=192.168.126.0,static',
    ],
  },
  {
    families: ['IPv4', 'IPv6'],
    records: {
      api: [`--host-record=api.${domain},192.168.126.10,fd00:126::10`],
      'api-int': [`--host-record=api-int.${domain},192.168.126.10,fd00:126::10`],
      apps: [`--address=/apps.${domain}/192.168.126.10`, `--address=/apps.${domain}/fd00:126::10`],
      host: [`--host-record=sno.${domain},sno,192.168.126.10,fd00:126::10`],
    },
    others: [
      '--dhcp-host=52:54:00:00:00:0a,set:sno,192.168.126.10,[fd00:126::10],infinite',
      '--dhcp-range=192.168.126.0,static',
      '--enable-ra',
      '--dhcp-range=fd00:126::,static,64',
    ],
  },
  {
    families: ['IPv6'],
    records: {
      api: [`--host-record=api.${domain},fd00:126::10`],
      'api-int': [`--host-record=api-int.${domain},fd00:126::10`],
      apps: [`--address=/apps.${domain}/fd00:126::10`],
      host: [`--host-record=sno.${domain},sno,fd00:126::10`],
    },
    others: [
      '--dhcp-host=52:54:00:00:00:0a,set:sno,[fd00:126::10],infinite',
      '--enable-ra',
      '--dhcp-range=fd00:126::,static,64',
    ],
  },
];

const isOfSite = (argument: string) =>
  /^--(host-record|address|dhcp-host|dhcp-range|enable-ra)/.test(argument);

for (const { families, records, others } of SITES) {
  const host = hostOf(families);
  t.test(
    `a whole site of ${families.join(' and ')} has every record and a fixed lease`,
    async (t) => {
      const args = dnsmasqArguments({ domain, host }, '/run/x').filter(isOfSite);
      t.same(args.toSorted(), [...Object.values(records).flat(), ...others].toSorted());
    },
  );
  for (const missing of names) {
    t.test(
      `a site of ${families.join(' and ')} without ${missing} lacks exactly that`,
      async (t) => {
        const args = dnsmasqArguments({ domain, host, withoutRecords: [missing] }, '/run/x');
        const kept = names.filter((name) => name !== missing).flatMap((name) => records[name]);
        t.same(args.filter(isOfSite).toSorted(), [...kept, ...others].toSorted());
      },
    );
  }
}

t.test('a site without DHCP has the records and assigns no addresses', async (t) => {
  const host = hostOf(['IPv4', 'IPv6']);
  const withBoot = { domain, host, bootFile: 'http://192.0.2.1/boot.ipxe' };
  t.ok(dnsmasqArguments(withBoot, '/run/x').includes(`--dhcp-boot=${withBoot.bootFile}`));
  const args = dnsmasqArguments({ ...withBoot, dhcp: false }, '/run/x');
  t.same(
    args.filter((argument) => /dhcp|ra/.test(argument.split('=')[0] ?? '')),
    [],
  );
  t.same(
    args.filter(isOfSite).toSorted(),
    Object.values(SITES[1]?.records ?? {})
      .flat()
      .toSorted(),
  );
});

t.test(
  'an authoritative server denies names without a record, any other refuses them',
  async (t) => {
    const host = hostOf(['IPv4']);
    const denies = (dns: boolean | 'authoritative') =>
      dnsmasqArguments({ domain, host, dns }, '/run/x').includes(`--local=/${domain}/`);
    t.ok(denies('authoritative'));
    t.notOk(denies(true));
    t.notOk(denies(false));
  },
);
