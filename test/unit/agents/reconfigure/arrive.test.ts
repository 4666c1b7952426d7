/** A site volume arrives: what is accepted, what is refused, and when the same one is used again. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { endedAs } from '../../../../lib/change/ending.ts';
import { siteChange, usedVolumes } from '../../../../lib/change/site/request.ts';
import { ageIdentityPath } from '../../../../lib/relocation/relocatable/policy.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { requestPem } from '../../cluster/csr/requests.ts';
import { snapshot } from '../../engine/trial/changed-host.ts';
import {
  ageKeys,
  authorityCredentials,
  encrypterTo,
} from '../../relocation/site-volume/volumes.ts';
import { input } from '../../render/rendered-host.ts';
import type { TestHost } from '../host/host.ts';
import { checked, factoryHost, insert, REQUEST, SITE, STATE } from './site-host.ts';

const signal = new AbortController().signal;
const look = (host: TestHost) => arrive(host.paths, signal);

/** Everything that a refused volume must not change. */
const unchanged = (host: TestHost) =>
  Object.fromEntries(
    Object.entries(snapshot(host)).filter(
      ([path]) => !/^medium|^dev\/|^sys\/|^calls$|^written/.test(path),
    ),
  );

t.test('without a volume nothing happens', async (t) => {
  const host = await factoryHost(t);
  t.same(await look(host), { kind: 'nothing', note: 'no site volume is inserted' });
  host.remove('/etc/sno-agents/factory.json');
  await insert(host);
  t.same(await look(host), { kind: 'nothing', note: 'this host is not relocatable' });
});

t.test('a volume is accepted: its files are kept, and it may be pulled out', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  const arrival = await look(host);
  t.match(arrival, { kind: 'request', request: { volume: { serial: 7 } } });
  t.equal(host.mode(REQUEST), 0o600);
  for (const name of [
    '',
    ...readdirSync(host.at(`${STATE}/site`), { encoding: 'utf8', recursive: true }),
  ]) {
    const isFile = /\.\w+$/.test(name);
    t.equal(host.mode(`${STATE}/site/${name}`), isFile ? 0o600 : 0o700, name);
  }
  t.equal(host.read(`${STATE}/site/site-config.yaml`), SITE);
  t.same(
    (await usedVolumes(host.paths)).map(({ serial }) => serial),
    [7],
  );
  t.same(readdirSync(host.at('/run/sno-agents/reconfigure')), [], 'no copy of the medium stays');
  host.remove('/medium');
  t.same(await look(host), arrival, 'it goes on without the medium');
});

t.test('an encrypted volume is read with the identity of this host', async (t) => {
  const host = await factoryHost(t);
  const { identity, recipient } = await ageKeys();
  host.write(ageIdentityPath(host.paths), identity, 0o600);
  const credentials = await authorityCredentials(new Date());
  await insert(host, { config: checked(SITE), credentials, encrypter: encrypterTo(recipient) });
  t.match(await look(host), { kind: 'request' });
  t.equal(host.read(`${STATE}/site/site-config.yaml`), checked(SITE));
});

t.test('who reads how it went is kept until the next volume', async (t) => {
  const kept = `${STATE}/result-recipient.txt`;
  const host = await factoryHost(t);
  await insert(host, { more: { 'result-recipient.txt': 'age1somebody\n' } });
  await look(host);
  t.equal(host.read(kept), 'age1somebody\n');
  t.equal(host.mode(kept), 0o600);
  const other = await factoryHost(t);
  other.write(kept, 'age1before\n');
  await insert(other);
  await look(other);
  t.notOk(other.has(kept));
});

const REPORT_TO = '/etc/sno-agents/report-to.json';
const reportTo = (host: string) =>
  JSON.stringify({ apiVersion: 'sno-agents/v1', kind: 'ReportTo', url: `https://${host}/` });

t.test('the host reports to whom an accepted volume names, from then on', async (t) => {
  const host = await factoryHost(t);
  host.write(REPORT_TO, reportTo('factory.example'), 0o600);
  await insert(host);
  t.match(await look(host), { kind: 'request' });
  t.equal(host.read(REPORT_TO), reportTo('factory.example'), 'a volume that names nobody');

  const other = await factoryHost(t);
  other.programs.give('systemctl', `[ "$1" = start ] && test ! -e "$ROOT${REQUEST}"`);
  await insert(other, { more: { 'report-to.json': reportTo('hub.example') } });
  t.match(await look(other), { kind: 'request' });
  t.equal(other.read(REPORT_TO), reportTo('hub.example'));
  t.equal(other.mode(REPORT_TO), 0o600);
  t.match(other.programs.calls('systemctl'), [
    'systemctl start --no-block sno-report.path',
    'systemctl start --no-block sno-report.timer',
  ]);
});

t.test('a refused volume changes nothing of whom the host reports to', async (t) => {
  const host = await factoryHost(t);
  const validUntil = new Date(Date.now() - 86_400_000);
  await insert(host, { validUntil, more: { 'report-to.json': reportTo('hub.example') } });
  await t.rejects(look(host), { kind: 'usage', code: 'site-volume-refused' });
  t.notOk(host.has(REPORT_TO));
});

t.test('what a killed agent has left of a volume is deleted', async (t) => {
  const host = await factoryHost(t);
  host.write(`${STATE}/site/auth/serving-ca.key`, 'a key', 0o600);
  t.match(await look(host), { kind: 'nothing' });
  t.notOk(host.has(`${STATE}/site`));
});

t.test('labels in any case; a partition is not counted beside its disk', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  const device = (
    kname: string,
    pkname: string | null,
    label: string | null,
    fstype = 'iso9660',
  ) => ({
    path: `/dev/${kname}`,
    kname,
    pkname,
    fstype,
    label,
  });
  const devices = [
    device('sda', null, 'root', 'xfs'),
    device('sdb', null, 'Cluster-Config'),
    device('sdb1', 'sdb', 'Cluster-Config'),
  ];
  host.programs.give('lsblk', `cat <<'END'\n${JSON.stringify({ blockdevices: devices })}\nEND`);
  t.match(await look(host), { kind: 'request' });
  const calls = host.programs.calls('systemd-run').join('\n');
  t.match(calls, /DynamicUser=yes.*DeviceAllow=\/dev\/sdb r .*PrivateNetwork=yes/);
  t.match(
    calls,
    /-- \/var\/lib\/sno-agents\/bin\/sno-agents reconfigure read-medium iso9660 \/dev\/sdb$/,
  );
});

const REFUSED: readonly {
  readonly name: string;
  readonly prepare: (host: TestHost) => Promise<void> | void;
  readonly says: RegExp;
}[] = [
  {
    name: 'two volumes',
    prepare: (host) => insert(host, undefined, { labels: ['SITE-CONFIG', 'cluster-config'] }),
    says: /more than one site volume.*SITE-CONFIG in \/dev\/sdb, cluster-config in \/dev\/sdc/,
  },
  {
    name: 'a medium that its reader refuses',
    prepare: (host) =>
      host.programs.give('fake-reader', 'echo "found \\"a\\", which is a symlink" >&2; exit 2'),
    says: /the medium SITE-CONFIG in \/dev\/sdb cannot be used; found found "a", which is a symlink/,
  },
  {
    name: 'a link that the reader passes on',
    prepare: (host) =>
      host.programs.give('fake-reader', 'cd "$ROOT/medium" && ln -s /etc/shadow x && tar -cf - *'),
    says: /"x", which is no regular file but a symlink/,
  },
  {
    name: 'a file outside of the folder',
    prepare: (host) =>
      host.programs.give('fake-reader', 'cd "$ROOT/medium" && tar -P -cf - --transform s,^,../, *'),
    says: /not an archive of a site volume/,
  },
  {
    name: 'the same, from a reader that was still at work',
    prepare: (host) =>
      host.programs.give(
        'fake-reader',
        'cd "$ROOT/medium" && tar -P -cf - --transform s,^,../, *; exit 141',
      ),
    says: /not an archive of a site volume/,
  },
  {
    name: 'more than 16 MiB from the reader',
    prepare: (host) =>
      host.programs.give('fake-reader', 'cd "$ROOT/medium" && truncate -s 20M x && tar -cf - *'),
    says: /cannot be used/,
  },
  {
    name: 'what is no archive',
    prepare: (host) => host.programs.give('fake-reader', 'head -c 5000 /dev/zero | tr "\\0" x'),
    says: /archive|no files/,
  },
  {
    name: 'a file that differs from its digest',
    prepare: (host) => host.write('/medium/site-config.yaml', `${SITE} `),
    says: /site-config\.yaml/,
  },
  {
    name: 'a bare site-config.yaml',
    prepare: (host) => host.remove('/medium/site-volume.json'),
    says: /site-volume\.json/,
  },
  {
    name: 'one for another host',
    prepare: (host) => insert(host, { config: SITE, hosts: ['52:54:00:99:99:99'] }),
    says: /52:54:00/,
  },
  {
    name: 'an expired one',
    prepare: (host) =>
      insert(host, {
        config: SITE,
        validUntil: new Date('2020-01-02T00:00:00Z'),
        createdAt: new Date('2020-01-01T00:00:00Z'),
      }),
    says: /until|valid|expired/i,
  },
  {
    name: 'an administrator with a name of Kubernetes',
    prepare: async (host) =>
      insert(host, {
        config: SITE,
        credentials: {
          kind: 'request',
          request: await requestPem({ subject: [{ CN: ['system:admin'] }], names: [] }),
        },
      }),
    says: /credentials\/admin\.csr cannot be used.*system:admin/,
  },
  {
    name: 'an unsigned one where only signed ones are taken',
    prepare: (host) => {
      const policy = JSON.parse(host.read('/etc/sno-agents/factory.json'));
      host.write(
        '/etc/sno-agents/factory.json',
        JSON.stringify({ ...policy, unsignedAllowed: false }),
      );
    },
    says: /sign/,
  },
  {
    name: 'an adapter that the host does not have',
    prepare: (host) => insert(host, { config: SITE.replace('eno1', 'eno9') }),
    says: /eno9/,
  },
  {
    name: 'while an update is under way',
    prepare: (host) => host.write('/var/lib/sno-agents/sno-update/request.json', '{}'),
    says: /an update is under way/,
  },
  {
    name: 'while something is on trial',
    prepare: (host) => host.write('/var/lib/sno-agents/sno-trial/trial.json', '{}'),
    says: /trial/,
  },
  {
    name: 'a host of an earlier release',
    prepare: (host) => host.remove('/etc/sno-agents/render-input.json'),
    says: /cannot be reconfigured.*render-input/,
  },
  {
    name: 'a host whose keys are sealed',
    prepare: (host) =>
      saveRenderInput(host.paths, { ...input, cluster: { ...input.cluster, sealSecrets: 'tpm2' } }),
    says: /cannot be reconfigured.*sealSecrets: tpm2/,
  },
];
for (const { name, prepare, says } of REFUSED) {
  t.test(`refused, and nothing is changed: ${name}`, async (t) => {
    const host = await factoryHost(t);
    await insert(host);
    await prepare(host);
    const before = unchanged(host);
    await t.rejects(look(host), { message: says });
    t.same(unchanged(host), before);
    t.equal(await siteChange.read(host.paths), undefined);
  });
}

t.test('while something is under way, no URL is asked', async (t) => {
  const host = await factoryHost(t);
  const policy = JSON.parse(host.read('/etc/sno-agents/factory.json'));
  const siteUrl = 'https://factory.example';
  host.write('/etc/sno-agents/factory.json', JSON.stringify({ ...policy, siteUrl }));
  host.write('/var/lib/sno-agents/sno-update/request.json', '{}');
  await t.rejects(look(host), { kind: 'usage', message: /an update is under way/ });
  t.same(host.programs.calls('nm-online'), []);
});

t.test('the same volume does nothing once it is in use', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  await look(host);
  await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
  await insert(host, undefined, { inserted: 2 });
  // The volume has a new request of an administrator, so it is another one: the same serial is refused.
  await t.rejects(look(host), { message: /serial|7/ });
});

t.test('a volume that failed is tried again when it is inserted again', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  await look(host);
  const failure = failureData(new Failure('fatal', 'no link on eno1'));
  await siteChange.end(host.paths, endedAs({ outcome: 'reverted', failure: failure }));
  t.match(await look(host), { kind: 'nothing', note: /was taken back here/ }, 'after the restart');
  t.match(await look(host), { kind: 'nothing' }, 'and not because it is looked at again');
  host.write('/sys/class/block/sdb/diskseq', '9\n');
  t.match(await look(host), { kind: 'request' }, 'somebody has inserted it again');
});

t.test('one that failed after another is not tried again by itself either', async (t) => {
  const host = await factoryHost(t);
  const failure = failureData(new Failure('fatal', 'no link on eno1'));
  for (const serial of [7, 8]) {
    await insert(host, { config: SITE, serial }, { inserted: serial });
    t.match(await look(host), { kind: 'request', request: { volume: { serial } } });
    await siteChange.end(host.paths, endedAs({ outcome: 'refused', failure }));
    for (const why of ['udev looks again', 'and again'])
      t.match(await look(host), { kind: 'nothing', note: /failed here/ }, why);
  }
});

t.test('a newer volume after an older one', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  await look(host);
  await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
  t.match(await look(host), { kind: 'nothing', note: /is configured as the volume says/ });
  await insert(host, { config: SITE, serial: 8 });
  t.match(await look(host), { kind: 'request', request: { volume: { serial: 8 } } });
});
