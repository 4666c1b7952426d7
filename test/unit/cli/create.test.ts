import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { parse } from 'yaml';
import { DISK_VARIABLE } from '../../../cli/install-config/disk-variable.ts';
import { runSno } from '../../../cli/sno.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { isIssuedBy } from '../../../lib/pki/certificate.ts';
import { type IgnitionConfig, parseConfig } from '../../../lib/render/ignition/config.ts';
import { liveUnits } from '../../../units/live.ts';
import { agentsExecutable } from './agents-executable.ts';
import { noise } from './noise.ts';
import { type Run, sno } from './run-sno.ts';

const VALIDATOR = '/usr/bin/ignition-validate';
const IGNITION = 'bootstrap-in-place-for-live-iso.ign';
const EXECUTABLE = 'sno-agents';
const PULL_SECRET = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}';
const SSH_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me';
const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const JSON_MANIFEST = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}';
const INSTALL_CONFIG = `apiVersion: v1
baseDomain: example.com
metadata: {name: sno}
compute: [{name: worker, replicas: 0}]
controlPlane: {name: master, replicas: 1}
networking: {networkType: OVNKubernetes}
platform: {none: {}}
bootstrapInPlace: {installationDisk: /dev/vda, hostname: sno1}
pullSecret: '${PULL_SECRET}'
sshKey: ${SSH_KEY}
`;

function create(dir: string, environment: Record<string, string> = {}): Promise<Run> {
  const executable = ['--agents-executable', join(dir, '..', EXECUTABLE)];
  return sno(['create', 'single-node-ignition-config', '--dir', dir, ...executable], environment);
}

/** A folder with install-config.yaml and the files in `more`, beside an executable. */
function folder(t: Tap, more: Record<string, string> = {}, config = INSTALL_CONFIG): string {
  const cluster: Record<string, string | Record<string, string>> = {
    'install-config.yaml': config,
  };
  for (const [path, contents] of Object.entries(more)) {
    const [directory = '', name = ''] = path.split('/');
    const known = cluster[directory];
    cluster[directory] = { ...(typeof known === 'object' ? known : {}), [name]: contents };
  }
  return join(t.testdir({ [EXECUTABLE]: agentsExecutable(), cluster }), 'cluster');
}

type Tap = Pick<typeof t, 'testdir'>;

async function mode(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

async function readIgnition(dir: string): Promise<IgnitionConfig> {
  return parseConfig(await readFile(join(dir, IGNITION), 'utf8'), IGNITION);
}

function contentsOf(config: IgnitionConfig, path: string): string {
  const file = config.storage?.files?.find((each) => each.path === path);
  if (file?.contents === undefined) throw new Error(`no ${path}`);
  return decodeDataUrl(file.contents).toString('utf8');
}

t.test('writes the Ignition and the kubeconfig', async (t) => {
  const dir = folder(t, {
    'manifests/a.yaml': MANIFEST,
    'openshift/b.json': JSON_MANIFEST,
    'openshift/README': '',
  });
  const { code, out, err } = await create(dir);
  t.notMatch(err, /^(?!Notice: )./m, 'nothing but notices');
  t.equal(code, 0);
  t.match(out, /Control plane: kubernetes/);
  t.match(err, /networkType OVNKubernetes is ignored/);
  t.match(err, /not included[^\n]*: openshift\/README/);
  t.same((await readdir(dir)).toSorted(), [
    '.sno.log',
    'auth',
    IGNITION,
    'install-config.yaml',
    'manifests',
    'metadata.json',
    'openshift',
  ]);
  t.same(await readdir(join(dir, 'auth')), ['kubeconfig']);
  t.equal(await mode(join(dir, IGNITION)), '600');
  t.equal(await mode(join(dir, 'auth/kubeconfig')), '600');
  t.equal(await mode(join(dir, 'auth')), '700');

  const config = await readIgnition(dir);
  t.equal(config.ignition.version, '3.2.0');
  const cluster = clusterSchema.parse(
    JSON.parse(contentsOf(config, '/etc/sno-agents/cluster.json')),
  );
  t.match(cluster, {
    controlPlane: 'kubernetes',
    name: 'sno',
    hostname: 'sno1',
    installation: { disk: '/dev/vda', coreosInstallerArgs: [], existingSystem: 'refuse' },
    executableSha256: createHash('sha256').update(agentsExecutable()).digest('hex'),
    sshKeys: [SSH_KEY],
  });
  const metadata = JSON.parse(await readFile(join(dir, 'metadata.json'), 'utf8'));
  t.match(metadata, { clusterName: 'sno', clusterID: cluster.clusterId, infraID: /^sno-/ });
  t.equal(contentsOf(config, '/etc/hostname'), 'sno1\n');
  t.equal(contentsOf(config, '/opt/openshift/manifests/a.yaml'), MANIFEST);
  t.equal(contentsOf(config, '/opt/openshift/openshift/b.json'), JSON_MANIFEST);
  t.equal(contentsOf(config, '/root/.docker/config.json'), PULL_SECRET);
  t.equal(contentsOf(config, '/var/lib/kubelet/config.json'), PULL_SECRET);
  t.same(config.passwd?.users?.[0]?.sshAuthorizedKeys, [SSH_KEY]);
  const modes = Object.fromEntries(
    (config.storage?.files ?? []).map((file) => [file.path, file.mode]),
  );
  t.match(modes, {
    '/etc/sno-agents/cluster.json': 0o600,
    '/opt/openshift/tls/kube-apiserver-serving-ca.key': 0o600,
    '/opt/openshift/tls/kube-apiserver-serving-ca.crt': 0o644,
    '/opt/openshift/tls/admin-ca.crt': 0o644,
    '/root/.docker/config.json': 0o600,
    '/var/lib/kubelet/config.json': 0o600,
    '/opt/openshift/manifests/a.yaml': 0o600,
  });
  const units = config.systemd?.units ?? [];
  const enabled = liveUnits.filter((unit) => unit.enabled).map(({ name }) => name);
  t.same(
    units.filter((unit) => unit.enabled).map(({ name }) => name),
    enabled.toSorted(),
  );
  t.equal(units.length, liveUnits.length + 1, "and a drop-in for the operating system's");

  const keys = Object.keys(modes).filter((path) => path.endsWith('.key'));
  t.same(keys, ['/opt/openshift/tls/kube-apiserver-serving-ca.key'], 'no other key');
  const kubeconfig = parse(await readFile(join(dir, 'auth/kubeconfig'), 'utf8'));
  const client = Buffer.from(kubeconfig.users[0].user['client-certificate-data'], 'base64');
  t.ok(
    await isIssuedBy(client.toString(), contentsOf(config, '/opt/openshift/tls/admin-ca.crt')),
    'the host trusts the first administrator',
  );
  const ca = contentsOf(config, '/opt/openshift/tls/kube-apiserver-serving-ca.crt');
  t.match(kubeconfig, {
    clusters: [
      {
        cluster: {
          server: 'https://api.sno.example.com:6443',
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        },
      },
    ],
  });
});

t.test(
  'ignition-validate accepts it',
  { skip: !existsSync(VALIDATOR) && 'not installed' },
  async (t) => {
    const dir = folder(t, { 'manifests/a.yaml': MANIFEST });
    t.equal((await create(dir)).code, 0);
    await execa(VALIDATOR, [join(dir, IGNITION)], { timeout: 20_000 });
    t.match(await sno(['verify', 'ignition', join(dir, IGNITION)]), { code: 0, out: /valid/ });
  },
);

t.test('a second run reports existing files and changes nothing', async (t) => {
  const dir = folder(t);
  t.equal((await create(dir)).code, 0);
  const before = await readFile(join(dir, IGNITION), 'utf8');
  const { code, err } = await create(dir);
  t.equal(code, 2);
  t.match(err, /There is already .*bootstrap-in-place-for-live-iso\.ign and .*auth\/kubeconfig/);
  t.equal(await readFile(join(dir, IGNITION), 'utf8'), before);
});

t.test('a kubeconfig alone is not overwritten either', async (t) => {
  const dir = folder(t, { 'auth/kubeconfig': 'mine' });
  t.match(await create(dir), { code: 2, err: /already .*auth\/kubeconfig/ });
  t.equal(await readFile(join(dir, 'auth/kubeconfig'), 'utf8'), 'mine');
});

t.test(
  'faults of the file, the manifests and the variable are reported together, and nothing is written',
  async (t) => {
    const dir = folder(
      t,
      { 'manifests/a b.yaml': '' },
      INSTALL_CONFIG.replace('replicas: 1', 'replicas: 3'),
    );
    await symlink('/etc/passwd', join(dir, 'manifests/link.yaml'));
    const { code, err } = await create(dir, { [DISK_VARIABLE]: '/dev/vdb' });
    t.equal(code, 2);
    t.match(err, /4 errors/);
    t.match(err, /install-config\.yaml:5:40 controlPlane\.replicas: expected 1, found 3/);
    t.match(err, /"\/dev\/vda" here and "\/dev\/vdb" in OPENSHIFT_INSTALL/);
    t.match(err, /"manifests\/a b\.yaml": expected a name/);
    t.match(err, /manifests\/link\.yaml: expected a file or folder, found a symbolic link/);
    t.same((await readdir(dir)).toSorted(), ['install-config.yaml', 'manifests']);
  },
);

const REFUSED: readonly { name: string; more?: Record<string, string>; says: RegExp }[] = [
  {
    name: 'a manifest larger than all together may be',
    more: { 'manifests/a.yaml': 'x'.repeat(16 * 1024 * 1024 + 1) },
    says: /manifests\/a\.yaml: expected at most 16777216 bytes/,
  },
  {
    name: 'manifests that the host could not read, all at once',
    more: {
      'manifests/a.yaml': 'a: [',
      'manifests/b.yaml': '# a list\n- a',
      'openshift/c.json': '{"kind": "A"}',
      'openshift/d.yaml': MANIFEST,
    },
    says: /3 errors.*\nmanifests\/a\.yaml:1: .*\nmanifests\/b\.yaml:2: .*\nopenshift\/c\.json:1: apiVersion/,
  },
];
for (const { name, more = {}, says } of REFUSED) {
  t.test(`refused: ${name}`, async (t) => {
    const dir = folder(t, more);
    t.match(await create(dir), { code: 2, err: says });
    t.notOk(existsSync(join(dir, 'auth')));
    t.notOk(existsSync(join(dir, IGNITION)));
  });
}

t.test('more than a live ISO holds can still be served', async (t) => {
  const dir = folder(t, { 'manifests/big.yaml': `${MANIFEST}data: {a: ${noise(400_000)}}` });
  const { code, err } = await create(dir);
  t.equal(code, 0);
  t.match(err, /Notice: the config does not fit a live ISO \(\d+ KiB of 256 KiB\): serve it/);
});

t.test('a large manifest that compresses well is accepted', async (t) => {
  const dir = folder(t, {
    'manifests/a.yaml': `${MANIFEST}data:\n  a: |\n${'    line: same\n'.repeat(60_000)}`,
  });
  t.equal((await create(dir)).code, 0);
});

t.test('a folder without install-config.yaml, and an executable that does not exist', async (t) => {
  const dir = t.testdir({ cluster: {} });
  t.match(await create(dir), { code: 2, err: /install-config\.yaml does not exist/ });
  await mkdir(join(dir, 'd'));
  await writeFile(join(dir, 'd/install-config.yaml'), INSTALL_CONFIG);
  const args = ['create', 'single-node-ignition-config', '--dir', join(dir, 'd')];
  t.match(await sno(args), { code: 2, err: /--agents-executable/ });
  t.match(await sno(args, { SNO_AGENTS_EXECUTABLE: '/nowhere' }), {
    code: 2,
    err: /\/nowhere cannot be read/,
  });
  const here = { SNO_AGENTS_EXECUTABLE: join(dir, 'd/agents') };
  await writeFile(join(dir, 'd/agents'), agentsExecutable());
  t.equal((await sno(args, here)).code, 0, 'the variable is enough');
});

t.test('a payload for an architecture other than that in install-config.yaml', async (t) => {
  const arm64 = INSTALL_CONFIG.replace('replicas: 1', 'replicas: 1, architecture: arm64');
  const hash = 'a'.repeat(64);
  const image = { name: 'etcd', reference: 'registry.k8s.io/etcd:3.6.8-0', id: `sha256:${hash}` };
  const payload = {
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: 'amd64',
    versions: { kubernetes: 'v1.37.2', etcd: 'v3.6.8' },
    images: [{ ...image, archive: 'images/etcd.tar', size: 1, sha256: hash }],
    binaries: [{ name: 'kubelet', file: 'bin/kubelet', size: 1, sha256: hash }],
  };
  for (const [config, code] of [
    [arm64, 2],
    [INSTALL_CONFIG, 0],
    [arm64.replace('arm64', 'amd64'), 0],
  ] as const) {
    const dir = folder(t, { 'payload/payload.yaml': JSON.stringify(payload) }, config);
    const args = [
      '--payload',
      join(dir, 'payload'),
      '--agents-executable',
      join(dir, '../sno-agents'),
    ];
    const run = await sno(['create', 'single-node-ignition-config', '--dir', dir, ...args]);
    t.equal(run.code, code);
    if (code === 2)
      t.match(
        run.err,
        /payload is for another architecture; nothing was written; expected arm64, as controlPlane\.architecture of install-config\.yaml; found amd64/,
      );
  }
});

const SERVERS: readonly [url: string, says: RegExp][] = [
  ['http://a/config/master', /found a URL of http\. It requires TLS/],
  ['https://me:hunter2@a/config/master', /found a user or password\. Remove it/],
  ['https://me@a/config/master', /found a user or password/],
  ['config/master', /found a string that is not a URL/],
];
for (const [url, says] of SERVERS) {
  t.test(`--machine-config-server ${url} is refused`, async (t) => {
    const dir = folder(t);
    const executable = ['--agents-executable', join(dir, '..', EXECUTABLE)];
    const args = ['create', 'single-node-ignition-config', '--dir', dir, ...executable];
    const run = await sno([...args, '--machine-config-server', url]);
    t.match(run, { code: 2, out: '', err: says });
    t.match(
      run.err,
      /--machine-config-server is not valid; nothing was written; expected an https URL/,
    );
    t.notMatch(run.err, 'hunter2');
    t.same(await readdir(dir), ['install-config.yaml']);
  });
}

t.test('a failed write leaves nothing behind', async (t) => {
  const dir = folder(t, { 'auth/other': '' });
  const stop = new AbortController();
  stop.abort(new Error('interrupted'));
  const complaints: string[] = [];
  const code = await runSno(
    [
      'create',
      'single-node-ignition-config',
      '--dir',
      dir,
      '--agents-executable',
      join(dir, '../sno-agents'),
    ],
    {
      environment: {},
      print: () => {},
      complain: (text) => complaints.push(text),
      signal: stop.signal,
    },
  );
  t.equal(code, 1);
  t.same(complaints, [
    'sno: create single-node-ignition-config was stopped; partial output was removed',
  ]);
  t.same(await readdir(join(dir, 'auth')), ['other']);
});
