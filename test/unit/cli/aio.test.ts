import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { parse } from 'yaml';
import { DISK_VARIABLE } from '../../../cli/install-config/disk-variable.ts';
import { mediumArguments } from '../../../cli/iso/create-medium.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { addressEvents } from '../../../lib/change/identity/address-events.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { type IgnitionConfig, parseConfig } from '../../../lib/render/ignition/config.ts';
import { agentsExecutable } from './agents-executable.ts';
import { type Edit, edited } from './install-config-file.ts';
import { type Run, sno } from './run-sno.ts';

const DIGEST = 'a'.repeat(64);
const PINNED = ['--payload-sha256', DIGEST];
const URLS = ['--agents-url', 'http://192.0.2.1/sno-agents', '--payload-url', 'http://192.0.2.1/p'];
const VALIDATOR = '/usr/bin/ignition-validate';
const NO_DISK: readonly Edit[] = [
  ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''],
  ['  existingSystem: overwrite\n', ''],
];
const WITH_WORKERS: readonly Edit[] = [...NO_DISK, ['  replicas: 0\n', '  replicas: 2\n']];
const MANIFEST = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n';
const DEFERRED = 'apiVersion: example.com/v1\nkind: Till\nmetadata: {name: b}\n';

type Tap = Pick<typeof t, 'testdir'>;

/** A folder with install-config.yaml and manifests, beside an executable. */
function folder(t: Tap, edits: readonly Edit[] = NO_DISK, manifests = {}): string {
  const cluster = { 'install-config.yaml': edited(edits), manifests };
  return join(t.testdir({ 'sno-agents': agentsExecutable(), cluster }), 'cluster');
}

function create(dir: string, args: readonly string[], environment = {}): Promise<Run> {
  const executable = ['--agents-executable', join(dir, '../sno-agents')];
  return sno(['create', 'aio-ignition', '--dir', dir, ...executable, ...args], environment);
}

async function readIgnition(dir: string): Promise<IgnitionConfig> {
  return parseConfig(await readFile(join(dir, 'aio.ign'), 'utf8'), 'aio.ign');
}

function contentsOf({ storage }: IgnitionConfig, path: string): string {
  const file = storage?.files?.find((each) => each.path === path);
  if (file?.contents === undefined) throw new Error(`no ${path}`);
  return decodeDataUrl(file.contents).toString('utf8');
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

t.test('with workers, the config of all of them is written too, with the same token', async (t) => {
  const dir = folder(t, WITH_WORKERS);
  const { code, out, err } = await create(dir, [...PINNED, ...URLS, '--token-hours', '36']);
  t.notMatch(err, /^(?!Notice: )./m, 'nothing but notices');
  t.equal(code, 0);
  t.match(out, /worker\.ign \(for all workers\)/);
  t.match(err, /accepted for 36 hours from the installation/);
  t.match(err, /the control-plane node has a taint/);
  t.equal(await modeOf(join(dir, 'worker.ign')), '600');
  const host = await readIgnition(dir);
  const worker = parseConfig(await readFile(join(dir, 'worker.ign'), 'utf8'), 'worker.ign');
  const clusterIn = (config: IgnitionConfig) =>
    clusterSchema.parse(JSON.parse(contentsOf(config, '/etc/sno-agents/cluster.json')));
  t.equal(clusterIn(host).dayOneWorkers, 2);
  t.equal(clusterIn(worker).clusterId, clusterIn(host).clusterId);
  const { id, secret, hours } = JSON.parse(
    contentsOf(host, '/opt/openshift/tls/worker-token.json'),
  );
  t.equal(hours, 36);
  t.match(`${id}.${secret}`, /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  const kubeconfig = parse(contentsOf(worker, '/etc/sno-agents/worker-bootstrap.kubeconfig'));
  t.equal(kubeconfig.users[0].user.token, `${id}.${secret}`);
  t.notOk(out.includes(secret), 'it is not printed');
  t.equal(
    contentsOf(worker, '/etc/kubernetes/pki/kubelet/api-ca.crt'),
    contentsOf(host, '/opt/openshift/tls/kube-apiserver-serving-ca.crt'),
  );
  t.notMatch(JSON.stringify(worker), /PRIVATE KEY/);
  const token = host.storage?.files?.find(({ path }) => path.endsWith('worker-token.json'));
  t.equal(token?.mode, 0o600);
});

t.test('a worker.ign that exists is kept, and nothing is written', async (t) => {
  const dir = folder(t, WITH_WORKERS);
  await writeFile(join(dir, 'worker.ign'), 'mine');
  const { code, err } = await create(dir, [...PINNED, ...URLS]);
  t.equal(code, 2);
  t.match(err, /worker\.ign/);
  t.notOk(existsSync(join(dir, 'aio.ign')));
  t.equal(await readFile(join(dir, 'worker.ign'), 'utf8'), 'mine');
});

t.test('writes the Ignition config and the kubeconfig', async (t) => {
  const dir = folder(t, NO_DISK, { 'a.yaml': MANIFEST });
  const { code, err } = await create(dir, [...PINNED, ...URLS]);
  t.notMatch(err, /^(?!Notice: )./m, 'nothing but notices');
  t.equal(code, 0);
  t.match(err, /one Ignition config is one installation/);
  t.notMatch(err, /ignored: bootstrap/);
  t.same((await readdir(join(dir, 'auth'))).toSorted(), ['kubeconfig']);
  for (const path of ['aio.ign', 'auth/kubeconfig']) t.equal(await modeOf(join(dir, path)), '600');
  const config = await readIgnition(dir);
  const cluster = clusterSchema.parse(
    JSON.parse(contentsOf(config, '/etc/sno-agents/cluster.json')),
  );
  t.equal(cluster.installation, undefined, 'no disk is written');
  t.match(cluster, { hostname: 'sno1.example.com', payloadSha256: DIGEST });
  t.equal(contentsOf(config, '/etc/sno-agents/cluster-id'), cluster.clusterId);
  t.equal(contentsOf(config, '/etc/hostname'), 'sno1.example.com\n');
  t.equal(contentsOf(config, '/opt/openshift/manifests/a.yaml'), MANIFEST);
  const executable = createHash('sha256').update(agentsExecutable()).digest('hex');
  const bin = '/var/lib/sno-agents/bin';
  t.same(
    ['executable', 'executable-part', 'payload'].map((name) =>
      contentsOf(config, `/etc/sno-agents/${name}.sha256`),
    ),
    [
      `${executable}  ${bin}/sno-agents\n`,
      `${executable}  ${bin}/.sno-agents.part\n`,
      `${DIGEST}  /var/lib/sno-agents/payload/payload.yaml\n`,
    ],
  );
  t.match(contentsOf(config, '/etc/sno-agents/executable.curl'), '192.0.2.1/sno-agents');
  const secret = (config.storage?.files ?? []).filter(({ path }) =>
    /\.key$|cluster\.json$|config\.json$|manifests\//.test(path),
  );
  t.same(
    secret.map(({ path, mode }) => [path, mode]),
    [
      ['/etc/sno-agents/cluster.json', 0o600],
      ['/opt/openshift/manifests/a.yaml', 0o600],
      ['/opt/openshift/tls/kube-apiserver-serving-ca.key', 0o600],
      ['/var/lib/kubelet/config.json', 0o600],
    ],
  );
  const links = new Map((config.storage?.links ?? []).map(({ path, target }) => [path, target]));
  for (const agent of ['aiokube', 'progress', 'sno-payload', 'sno-certificates', 'gather']) {
    t.equal(links.get(`${bin}/${agent}`), 'sno-agents', agent);
  }
  t.notOk(links.has(`${bin}/sno-deferred`));
  const enabled = (config.systemd?.units ?? []).filter((unit) => unit.enabled === true);
  t.same(enabled.map(({ name }) => name).toSorted(), [
    'aiokube.service',
    'progress.service',
    'reconfigure.service',
    'sno-address.service',
    'sno-address.socket',
    'sno-approve.path',
    'sno-approve.service',
    'sno-backup-push.timer',
    'sno-backup-restore.service',
    'sno-backup.timer',
    'sno-identity.service',
    'sno-label.service',
    'sno-renew.path',
    'sno-renew.timer',
    'sno-report.path',
    'sno-report.timer',
    'sno-rotate.service',
    'sno-site-url.timer',
    'sno-trial.service',
    'sno-trial.timer',
    'sno-update.path',
    'sno-update.service',
  ]);
  t.equal(contentsOf(config, addressEvents.path), addressEvents.contents);
  const kubeconfig = parse(await readFile(join(dir, 'auth/kubeconfig'), 'utf8'));
  t.equal(kubeconfig.clusters[0].cluster.server, 'https://api.sno.example.com:6443');
  t.ok((await stat(join(dir, 'aio.ign'))).size < 128 * 1024, 'it stays small');
});

t.test('Ignition accepts it', { skip: !existsSync(VALIDATOR) && 'no validator' }, async (t) => {
  const dir = folder(t, NO_DISK, { 'b.yaml': DEFERRED });
  t.equal((await create(dir, PINNED)).code, 0);
  const { exitCode, all } = await execa(VALIDATOR, [join(dir, 'aio.ign')], {
    reject: false,
    all: true,
  });
  t.same({ exitCode, all }, { exitCode: 0, all: '' });
});

t.test('a medium with the payload, and manifests that wait for their kind', async (t) => {
  const dir = folder(t, NO_DISK, { 'b.yaml': DEFERRED });
  const { code, out } = await create(dir, PINNED);
  t.equal(code, 0);
  t.match(out, /the medium with the label sno-agents/);
  const config = await readIgnition(dir);
  const units = (config.systemd?.units ?? []).map(({ name }) => name);
  t.ok(units.includes('run-media-iso.mount'));
  t.ok(units.includes('dev-disk-by\\x2dlabel-sno\\x2dagents.device'));
  t.ok(units.includes('sno-deferred.service'));
  const paths = (config.storage?.files ?? []).map(({ path }) => path);
  t.notOk(paths.includes('/etc/sno-agents/executable.curl'));
  t.ok(paths.some((path) => path.startsWith('/etc/sno-agents/deferred/')));
});

t.test('the configuration of the site: network, proxy, host name from DHCP', async (t) => {
  const dir = folder(t, [
    ...NO_DISK,
    [
      '  hostname: sno1.example.com\n',
      '  networkConfig: {interfaces: [{name: eno1, type: ethernet}]}\n',
    ],
    ['platform:', 'proxy: {httpProxy: "http://proxy:3128"}\nplatform:'],
  ]);
  const { code, err } = await create(dir, PINNED);
  t.equal(code, 0, err);
  t.match(err, /no hostname: the node gets the name that DHCP or DNS provides/);
  const config = await readIgnition(dir);
  const units = new Map((config.systemd?.units ?? []).map((unit) => [unit.name, unit]));
  t.match(units.get('sno-network.service'), { enabled: true });
  t.match(contentsOf(config, '/etc/sno-agents/network.yml'), 'eno1');
  t.match(contentsOf(config, '/etc/sno-agents/proxy.env'), 'http_proxy=http://proxy:3128');
  // Its own unit file reads the variables; a drop-in would be left over.
  t.equal(units.get('aiokube.service')?.dropins, undefined);
  t.equal(units.get('kubelet.service')?.dropins?.length, 1);
  t.notOk((config.storage?.files ?? []).some(({ path }) => path === '/etc/hostname'));
});

t.test('keys that are to be sealed: the unit that opens them, and its link', async (t) => {
  const names = async (edit: Edit) => {
    const dir = folder(t, [...NO_DISK, edit]);
    t.equal((await create(dir, PINNED)).code, 0);
    const config = await readIgnition(dir);
    const { sealSecrets } = clusterSchema.parse(
      JSON.parse(contentsOf(config, '/etc/sno-agents/cluster.json')),
    );
    const isEnabled = config.systemd?.units?.find(
      ({ name }) => name === 'sno-unseal.service',
    )?.enabled;
    const hasLink = config.storage?.links?.some(({ path }) => path.endsWith('/sno-unseal'));
    return { sealSecrets, isEnabled, hasLink };
  };
  const hostname: Edit = ['bootstrapInPlace:\n', 'bootstrapInPlace:\n  sealSecrets: tpm2\n'];
  t.same(await names(hostname), { sealSecrets: 'tpm2', isEnabled: true, hasLink: true });
  const none: Edit = ['bootstrapInPlace:\n', 'bootstrapInPlace:\n  sealSecrets: none\n'];
  t.same(await names(none), { sealSecrets: undefined, isEnabled: undefined, hasLink: false });
});

t.test('fields about a disk are ignored with a notice', async (t) => {
  const dir = folder(t, [
    ['  existingSystem: overwrite\n', '  existingSystem: overwrite\n  kernelArguments: [quiet]\n'],
  ]);
  const { code, err } = await create(dir, PINNED, { [DISK_VARIABLE]: '--console ttyS0' });
  t.equal(code, 0);
  t.match(
    err,
    `ignored: bootstrapInPlace.installationDisk, bootstrapInPlace.existingSystem, bootstrapInPlace.kernelArguments, ${DISK_VARIABLE}`,
  );
  t.equal(
    clusterSchema.parse(
      JSON.parse(contentsOf(await readIgnition(dir), '/etc/sno-agents/cluster.json')),
    ).installation,
    undefined,
  );
});

const REFUSED: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly edits?: readonly Edit[];
  readonly says: readonly RegExp[];
}[] = [
  { name: 'no digest of the payload', args: [], says: [/--payload or --payload-sha256/] },
  {
    name: 'one URL only',
    args: [...PINNED, ...URLS.slice(0, 2)],
    says: [/--agents-url and --payload-url belong together/],
  },
  {
    name: 'the other URL only',
    args: [...PINNED, ...URLS.slice(2)],
    says: [/--agents-url and --payload-url belong together/],
  },
  {
    name: 'a medium and a server',
    args: ['--medium-iso', 'x.iso', '--payload', '/nowhere', ...URLS],
    says: [/2 errors in/, /--medium-iso and the URLs exclude each other/, /nowhere\/payload\.yaml/],
  },
  {
    name: 'a medium without its payload',
    args: ['--medium-iso', 'x.iso', ...PINNED],
    says: [/--medium-iso requires the payload itself/],
  },
  {
    name: 'options of workers without workers',
    args: [...PINNED, '--token-hours', '5'],
    says: [/--token-hours is only for workers.*compute\.replicas above 0/s],
  },
  {
    name: 'hours of a token that are none',
    args: [...PINNED, '--token-hours', '0'],
    edits: WITH_WORKERS,
    says: [/--token-hours cannot be used/],
  },
  {
    name: 'everything wrong at once: options, fields, manifests, executable',
    args: ['--agents-url', 'ftp://x', '--agents-executable', '/nowhere/sno-agents'],
    edits: [
      ['  replicas: 0\n', '  replicas: -3\n'],
      ['baseDomain: example.com', 'baseDomain: .'],
    ],
    says: [
      /6 errors in/,
      /--agents-url: expected an http or https URL/,
      /--agents-url and --payload-url belong together/,
      /the digest of the payload is missing/,
      /compute\[0\]\.replicas: expected a whole number from 0 to 100, found -3/,
      /baseDomain: expected a DNS domain/,
      /\/nowhere\/sno-agents cannot be read/,
    ],
  },
];
for (const { name, args, edits = NO_DISK, says } of REFUSED) {
  t.test(`refused: ${name}`, async (t) => {
    const dir = folder(t, edits);
    const { code, err } = await create(dir, args);
    t.equal(code, 2);
    for (const words of says) t.match(err, words);
    t.same((await readdir(dir)).toSorted(), ['install-config.yaml', 'manifests']);
  });
}

t.test('a config of an earlier run is kept, and named with the other faults', async (t) => {
  const dir = folder(t, [...NO_DISK, ['  replicas: 0\n', '  replicas: -2\n']]);
  await writeFile(join(dir, 'aio.ign'), 'of another host');
  t.match(await create(dir, PINNED), {
    code: 2,
    err: /There is already .*aio\.ign[\s\S]*replicas/,
  });
  t.equal(await readFile(join(dir, 'aio.ign'), 'utf8'), 'of another host');
});

t.test('the medium has the label that its mount unit looks for, and long names', async (t) => {
  const line = mediumArguments({
    iso: '/tmp/x.iso',
    label: 'sno-agents',
    folder: '/sno-agents',
    files: [{ source: '/p/payload.yaml', path: '/sno-agents/payload/payload.yaml', mode: 0o644 }],
  }).join(' ');
  t.match(line, /-joliet on .*-outdev stdio:\/tmp\/x\.iso -volid sno-agents /);
  t.match(line, '-map /p/payload.yaml /sno-agents/payload/payload.yaml');
  t.match(line, /-alter_date_r .*-commit -end$/);
});
