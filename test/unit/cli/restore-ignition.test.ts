import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { restoreFaults } from '../../../cli/create/restorable.ts';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { signHeader } from '../../../lib/change/backup/portable/author.ts';
import type { PortableHeader } from '../../../lib/change/backup/portable/header.ts';
import { readPortable } from '../../../lib/change/backup/portable/read.ts';
import type { Sign } from '../../../lib/change/backup/portable/write.ts';
import { readKubeconfig } from '../../../lib/clients/kube/kubeconfig.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { isIssuedBy } from '../../../lib/pki/certificate.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { authorityNames, authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { cluster } from '../agents/host/cluster.ts';
import { ageKeys, portableBackup, SIGNER, SIGNS } from '../change/backup/portable-backup.ts';
import { authorities, textAt } from '../render/rendered-host.ts';
import { agentsExecutable } from './agents-executable.ts';
import { sno } from './run-sno.ts';

const SSH_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJzK6xu9GRyeZ8ECmXpF3KKTHLj8bWp7ZKEdnQVHfZtB admin@laptop';
const LOST = 'b'.repeat(64);
const PULL_SECRET = '{"auths":{"mirror.example":{"auth":"YTpi"}}}';
type Change = (header: PortableHeader) => PortableHeader;

const withAuthorities = Object.fromEntries(
  authorityNames
    .flatMap((name) => Object.values(authorityPaths(name)).slice(1))
    .map((path) => [`host${path}`, textAt(path)]),
);

/** A portable backup, a key and an empty folder for the outputs. */
async function lost(
  t: Test,
  change: Change = (header) => header,
  files = withAuthorities,
  signs: Sign | 'unsigned' = SIGNS,
) {
  const { to, identity, opening } = await portableBackup(
    t,
    (header) => change({ ...header, pullSecret: PULL_SECRET }),
    files,
    signs,
  );
  const folder = dirname(to);
  const signer = join(folder, 'backup-signer.json');
  writeFileSync(signer, JSON.stringify(SIGNER));
  const key = join(folder, 'key.txt');
  writeFileSync(key, identity);
  const dir = folder;
  writeFileSync(join(dir, 'sno-agents'), agentsExecutable());
  mkdirSync(join(dir, 'out'));
  const create = (...more: string[]) => createBy(['--signer', signer], ...more);
  const createBy = (author: readonly string[], ...more: string[]) =>
    sno([
      ...['create', 'restore-ignition', '--dir', join(dir, 'out'), '--backup', to],
      ...['--identity', key, '--agents-executable', join(dir, 'sno-agents'), ...author, ...more],
    ]);
  const out = join(dir, 'out');
  const nothingWritten = () =>
    readdirSync(out).filter((name) => !name.startsWith('.')).length === 0;
  return { to, key, identity, opening, signer, out, dir, create, createBy, nothingWritten };
}

async function configIn(out: string) {
  const config = parseConfig(await readFile(join(out, 'restore.ign'), 'utf8'), 'restore.ign');
  const files = new Map((config.storage?.files ?? []).map((file) => [file.path, file]));
  const bytes = (path: string) => decodeDataUrl(files.get(path)?.contents ?? {});
  const text = (path: string) => bytes(path).toString('utf8');
  return { config, files, bytes, text };
}

t.test('a host on other hardware installs itself, and has the backup in the clear', async (t) => {
  const it = await lost(t, (header) => ({ ...header, settings: { backupKeepCount: 3 } }));
  const { code, out, err } = await it.create(
    ...['--hostname', 'spare', '--machine-network', '192.0.2.0/25', '--set', 'retryMs=3000'],
  );
  t.notMatch(err, /^(?!Notice: )./m, 'nothing but notices');
  t.equal(code, 0);
  t.match(out, /restore\.ign \(\d+ KiB\)/);
  t.match(out, /Backup: of edge-0, made 2030-01-02T03:05:00\.000Z, etcd at revision 70/);
  t.match(err, /has the backup in the clear, with every key of the lost host: destroy it/);
  t.notMatch(err, /authorities of the lost host are kept/);
  t.equal((await stat(join(it.out, 'restore.ign'))).mode & 0o777, 0o600);
  const { files, text, bytes } = await configIn(it.out);
  const described = clusterSchema.parse(JSON.parse(text('/etc/sno-agents/cluster.json')));
  t.match(described, {
    clusterId: cluster.clusterId,
    hostname: 'spare',
    machineNetwork: ['192.0.2.0/25'],
    payloadSha256: LOST,
  });
  t.equal(described.installation, undefined, 'it writes no disk');
  t.equal(text('/etc/hostname'), 'spare\n');
  t.equal(text('/var/lib/kubelet/config.json'), PULL_SECRET);
  const settings = JSON.parse(text('/etc/sno-agents/settings.json'));
  t.same(settings, { backupKeepCount: 3, retryMs: 3000 }, 'of the lost host, and given now');
  t.same(JSON.parse(text('/var/lib/sno-agents/lost-host/request.json')), {
    schemaVersion: 1,
    keepsAuthorities: false,
  });
  const archive = join(it.dir, 'backup.tar');
  writeFileSync(archive, bytes('/var/lib/sno-agents/lost-host/backup.tar'));
  const { signal } = new AbortController();
  const carried = { decrypter: undefined, author: { kind: 'ignition' } } as const;
  const { header } = await readPortable(archive, carried, {}, signal);
  t.equal(header.manifest.files.length, authorityNames.length * 2 + 1);
  for (const { path, mode } of files.values()) {
    if (path.includes('/lost-host/')) t.equal(mode, 0o600, path);
  }
  const serving = text('/opt/openshift/tls/kube-apiserver-serving-ca.crt');
  t.not(serving, authorities.servingCa.certificate, 'every authority is new');
  t.equal((await readKubeconfig(join(it.out, 'auth/kubeconfig'))).ca, serving);
  t.notOk(JSON.stringify([...files.values()]).includes(it.identity.trim()), "not the person's key");

  t.match(await it.create(), {
    code: 2,
    err: /There is already \S+restore\.ign and \S+auth\/kubeconfig; nothing/,
  });
});

t.test('the network of the other host', async (t) => {
  const lostNetwork = 'interfaces:\n  - name: eth7\n    type: ethernet\n';
  const it = await lost(t, ofCluster({ networkConfig: lostNetwork, hostname: 'edge-0' }));
  const clusterIn = async () => {
    const { text, config } = await configIn(it.out);
    rmSync(join(it.out, 'restore.ign'));
    rmSync(join(it.out, 'auth'), { recursive: true });
    const units = (config.systemd?.units ?? []).map(({ name }) => name);
    const { networkConfig, hostname } = JSON.parse(text('/etc/sno-agents/cluster.json'));
    return { networkConfig, hostname, isApplied: units.includes('sno-network.service') };
  };
  t.equal((await it.create()).code, 0);
  t.same(await clusterIn(), { networkConfig: lostNetwork, hostname: 'edge-0', isApplied: true });
  t.equal((await it.create('--dhcp')).code, 0);
  t.same(await clusterIn(), { networkConfig: undefined, hostname: 'edge-0', isApplied: false });
  const own = join(it.dir, 'network.yaml');
  writeFileSync(own, 'interfaces:\n  - name: eth9\n    type: ethernet\n    state:\n');
  t.equal((await it.create('--network-config', own)).code, 0);
  t.match(await clusterIn(), { networkConfig: /"eth9"/, isApplied: true });
  writeFileSync(own, 'interfaces:\n  - name: eth9\n    type: ethernet\nhostname: x\n');
  t.match(await it.create('--network-config', own), {
    code: 2,
    err: /network\.yaml:4:1 hostname: expected an nmstate section.*Use --hostname instead/,
  });
  writeFileSync(own, 'just text');
  t.match(await it.create('--network-config', own), {
    code: 2,
    err: /expected an nmstate document/,
  });
  t.ok(it.nothingWritten());
});

t.test('with the authorities of the lost host', async (t) => {
  const it = await lost(t);
  const { code, err } = await it.create('--keep-authorities');
  t.equal(code, 0);
  t.match(err, /authorities of the lost host are kept: whoever has its disk is trusted/);
  const { text } = await configIn(it.out);
  t.match(JSON.parse(text('/var/lib/sno-agents/lost-host/request.json')), {
    keepsAuthorities: true,
  });
  const { certificate, key } = authorityPaths('serving');
  t.equal(text('/opt/openshift/tls/kube-apiserver-serving-ca.crt'), textAt(certificate));
  t.equal(text('/opt/openshift/tls/kube-apiserver-serving-ca.key'), textAt(key));
  const admin = text('/opt/openshift/tls/admin-ca.crt');
  t.not(admin, authorities.adminCa.certificate, 'its administrator is a new one');
  const { certificate: own } = await readKubeconfig(join(it.out, 'auth/kubeconfig'));
  t.ok(await isIssuedBy(own ?? '', admin));
});

const ofCluster =
  (more: object): Change =>
  (header) => ({
    ...header,
    renderInput: {
      ...header.renderInput,
      cluster: { ...header.renderInput.cluster, ...more },
    },
  });

const release = {
  releaseImage: 'quay.io/x@sha256:1',
  version: '4.19',
  clusterId: cluster.clusterId,
  infrastructureName: 'edge-1',
  platform: 'none',
};

const refused: [title: string, change: Change, args: string[], says: RegExp][] = [
  [
    'of OpenShift',
    ofCluster({ controlPlane: 'openshift', openshift: release }),
    [],
    /the backup is of an OpenShift cluster/,
  ],
  ['of a relocatable node', ofCluster({ relocatable: true }), [], /of a relocatable node/],
  [
    'settings that this version does not know',
    (header) => ({ ...header, settings: { warpFactor: 9 } }),
    [],
    /settings\.json of the backup cannot be used.*warpFactor/,
  ],
  [
    'another payload',
    (header) => header,
    ['--payload-sha256', 'c'.repeat(64)],
    /expected b{64}, the payload of the lost host/,
  ],
  [
    'a wrong name',
    (header) => header,
    ['--hostname', 'Not A Name'],
    /--hostname: expected the name of a host/,
  ],
  [
    'a wrong network',
    (header) => header,
    ['--machine-network', 'fd00::/64'],
    /one CIDR for each family of the cluster, in its order \(IPv4\), found fd00::\/64/,
  ],
  [
    'two ways of addressing',
    (header) => header,
    ['--dhcp', '--network-config', 'x.yaml'],
    /--dhcp and --network-config exclude each other/,
  ],
  [
    'half of a server',
    (header) => header,
    ['--agents-url', 'http://192.0.2.1/a'],
    /--agents-url and --payload-url belong together/,
  ],
];
for (const [title, change, args, says] of refused) {
  t.test(`refused: ${title}`, async (t) => {
    const it = await lost(t, change);
    t.match(await it.create(...args), { code: 2, err: says });
    t.ok(it.nothingWritten());
  });
}

t.test('a backup of which nobody knows who made it is accepted by its cluster, once', async (t) => {
  const it = await lost(t, ofCluster({ sshKeys: [SSH_KEY] }), undefined, 'unsigned');
  t.match(await it.create(), {
    code: 2,
    err: new RegExp(`found no signature.*--accept-unsigned ${cluster.clusterId} instead`),
  });
  t.match(await it.createBy([]), { code: 2, err: /do not say who may have made the backup/ });
  const accept = ['--accept-unsigned', cluster.clusterId];
  t.match(await it.create(...accept), { code: 2, err: /found both/ });
  t.match(await it.createBy(['--accept-unsigned', 'other']), {
    code: 2,
    err: new RegExp(`it is of the cluster ${cluster.clusterId}, expected other`),
  });
  t.ok(it.nothingWritten());
  t.match(await it.createBy(accept), {
    code: 0,
    err: /Notice: nothing shows who made the backup, and whom it lets log in: look at its SSH key \(SHA256:[\w+/]{43}\)\n/,
  });
});

t.test('refused: signed by another host, or of the cluster of another one', async (t) => {
  const { key } = await createAuthority('admin-ca');
  const forged = await lost(t, undefined, undefined, (text) => signHeader(text, key));
  t.match(await forged.create(), { code: 2, err: /found a signature by another key/ });
  t.ok(forged.nothingWritten());
  const other = '11111111-1111-4111-8111-111111111111';
  const it = await lost(t);
  writeFileSync(it.signer, JSON.stringify({ ...SIGNER, clusterId: other }));
  t.match(await it.create(), {
    code: 2,
    err: new RegExp(`it is of the cluster ${cluster.clusterId}, expected ${other}`),
  });
  t.ok(it.nothingWritten());
});

t.test('refused: a backup without the authorities to be kept', async (t) => {
  const it = await lost(t, undefined, {});
  t.match(await it.create('--keep-authorities'), {
    code: 2,
    err: /--keep-authorities: the backup has no \S+\/ca\/etcd\/ca\.crt, .*Leave the option out/,
  });
  t.ok(it.nothingWritten());
  t.equal((await it.create()).code, 0);
});

t.test('refused: cut, the key of somebody else, no file, no key', async (t) => {
  const it = await lost(t);
  const { size } = await stat(it.to);
  writeFileSync(it.key, (await ageKeys()).identity);
  t.match(await it.create(), { code: 2, err: /no identity matched/ });
  writeFileSync(it.key, 'AGE-SECRET-KEY-1NOT');
  t.match(await it.create(), { code: 2, err: /line 1 of .*key\.txt is not an identity of age/ });
  writeFileSync(it.key, it.identity);
  truncateSync(it.to, size - 1);
  t.match(await it.create(), { code: 2, err: /portable\.age cannot be used/ });
  t.match(await it.create('--backup', '/nowhere.age'), {
    code: 2,
    err: /the backup \/nowhere\.age cannot be read/,
  });
  t.match(await it.create('--identity', '/dev/null'), {
    code: 2,
    err: /--identity \/dev\/null is not a regular file/,
  });
  t.ok(it.nothingWritten());
  t.notOk(existsSync(join(it.out, 'auth')));
});

t.test('what a backup is compared with', async (t) => {
  const it = await lost(t);
  const { signal } = new AbortController();
  const { header } = await readPortable(it.to, it.opening, {}, signal);
  const request = { keepsAuthorities: false, version: '1.2.3' };
  t.same(restoreFaults(header, request), []);
  t.same(restoreFaults(header, { ...request, version: '1.3.0' }), []);
  t.match(restoreFaults(header, { ...request, version: '1.2.2' }), [
    /made by sno-agents 1\.2\.3: use sno of that release, this is 1\.2\.2/,
  ]);
  const payload = (kubernetes: string, etcd = 'v3.6.8') => ({
    ...request,
    payload: '/payload',
    versions: { kubernetes, etcd },
  });
  for (const version of ['v1.34.4', 'v1.34.5', 'v1.35.0'])
    t.same(restoreFaults(header, payload(version)), [], version);
  for (const [version, fault] of [
    [
      'v1.34.3',
      /--payload: .*Kubernetes v1\.34\.3 is older than v1\.34\.4\. Use Kubernetes v1\.34\.4/,
    ],
    ['v1.36.0', /2 minor versions newer than v1\.34\.4\. Take Kubernetes 1\.35 first/],
    ['latest', /latest cannot be compared/],
  ] as const) {
    t.match(restoreFaults(header, payload(version)), [fault]);
  }
  t.match(restoreFaults(header, payload('v1.34.4', 'v3.5.9')), [/etcd v3\.5\.9 is older/]);
  t.match(restoreFaults(header, payload('v1.34.4', 'v3.7.3')), [/must not follow v3\.6\.8/]);
  const [database, ...others] = header.manifest.files;
  if (database === undefined) throw new Error('no database');
  const files = [{ ...database, bytes: 2 ** 30 }, ...others];
  t.match(restoreFaults({ ...header, manifest: { ...header.manifest, files } }, request), [
    /too large for an Ignition config: expected at most 256 MiB, found 1025 MiB/,
  ]);
});
