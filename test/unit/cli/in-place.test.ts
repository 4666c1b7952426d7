import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Decrypter } from 'age-encryption';
import t from 'tap';
import { USER_DATA_BYTES } from '../../../cli/create/in-place-ignition.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { type IgnitionConfig, parseConfig } from '../../../lib/render/ignition/config.ts';
import { inapplicable } from '../../../lib/render/ignition/plain-entries.ts';
import { effectiveConfig } from '../../../lib/render/ignition/validate.ts';
import { read } from '../docs/documents.ts';
import { agentsExecutable } from './agents-executable.ts';
import { SITE_CA } from './certificates.ts';
import { type Edit, edited } from './install-config-file.ts';
import { type Run, sno } from './run-sno.ts';

const DIGEST = 'a'.repeat(64);
const URLS = [
  ...['--agents-url', 'http://192.0.2.1/sno-agents', '--payload-url', 'http://192.0.2.1/p'],
  ...['--payload-sha256', DIGEST],
];
const BUNDLE_URL = 'https://bucket.example.com/6f1c/in-place.bundle?X-Signature=s3cret';
const SELF: readonly Edit[] = [
  ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', '  target: self\n'],
  ['  existingSystem: overwrite\n', ''],
];

type Tap = Pick<typeof t, 'testdir'>;

function folder(t: Tap, text = edited(SELF), manifests = {}): string {
  const cluster = { 'install-config.yaml': text, manifests };
  return join(t.testdir({ 'sno-agents': agentsExecutable(), cluster }), 'cluster');
}

function create(dir: string, args: readonly string[] = []): Promise<Run> {
  const executable = ['--agents-executable', join(dir, '../sno-agents')];
  const given = ['--dir', dir, '--bundle-url', BUNDLE_URL, ...executable, ...URLS, ...args];
  return sno(['create', 'in-place-ignition', ...given]);
}

const pathsOf = ({ storage = {} }: IgnitionConfig) => storage.files?.map(({ path }) => path) ?? [];

function contentsOf({ storage }: IgnitionConfig, path: string): string {
  const file = storage?.files?.find((each) => each.path === path);
  if (file?.contents === undefined) throw new Error(`no ${path}`);
  return decodeDataUrl(file.contents).toString('utf8');
}

async function userData(dir: string) {
  const text = await readFile(join(dir, 'in-place.ign'), 'utf8');
  return { text, config: effectiveConfig(parseConfig(text, 'in-place.ign')).config };
}

t.test('user data and a bundle, which need each other', async (t) => {
  const manifest =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {k: dG9wLXNlY3JldA==}\n';
  const dir = folder(t, edited(SELF), { 'a.yaml': manifest });
  const { code, out, err } = await create(dir);
  t.equal(code, 0, err);
  t.match(out, new RegExp(`in-place\\.ign \\(\\d+ of ${USER_DATA_BYTES} bytes of user data\\)`));
  t.match(err, /serve the bundle once, and delete it/);
  t.notMatch(`${out}${err}`, 's3cret', 'the URL may be a secret');
  const { text, config } = await userData(dir);
  t.ok(Buffer.byteLength(text) < USER_DATA_BYTES, `${Buffer.byteLength(text)} bytes`);
  const inPlace = JSON.parse(contentsOf(config, '/var/lib/sno-agents/sno-in-place/in-place.json'));
  const all = pathsOf(config).map((path) => contentsOf(config, path));
  for (const secret of ['PRIVATE KEY', 'dXNlcjpwYXNz', 'dG9wLXNlY3JldA=='])
    t.notMatch(all.join('\n'), secret, `the user data has no ${secret}`);
  t.match(
    config.systemd?.units?.find(({ name }) => name === 'sno-in-place.service'),
    { enabled: true, contents: /^ExecStart=.* sno-in-place run$/m },
  );

  const bytes = await readFile(join(dir, 'in-place.bundle'));
  t.match(inPlace.bundle, { url: BUNDLE_URL, sha256: sha256(bytes) });
  const decrypter = new Decrypter();
  decrypter.addIdentity(inPlace.bundle.key);
  const live = parseConfig(await decrypter.decrypt(bytes, 'text'), 'the bundle');
  t.same(inapplicable(live), [], 'a running system can apply it');
  const cluster = clusterSchema.parse(JSON.parse(contentsOf(live, '/etc/sno-agents/cluster.json')));
  t.match(cluster, { inPlace: true, clusterId: inPlace.clusterId, payloadSha256: DIGEST });
  t.equal(cluster.installation, undefined);
  t.match(contentsOf(live, '/opt/openshift/tls/kube-apiserver-serving-ca.key'), 'PRIVATE KEY');
  t.match(contentsOf(live, '/opt/openshift/manifests/a.yaml'), 'dG9wLXNlY3JldA==');
  const units = live.systemd?.units?.map(({ name }) => name) ?? [];
  for (const name of ['bootkube.service', 'install-to-disk.service', 'kubelet.service'])
    t.ok(units.includes(name), name);
  t.notOk(units.includes('sno-executable.service'), 'the user data has it');
  for (const name of ['bootkube.service', 'sno-gather.service']) {
    const unit = live.systemd?.units?.find((each) => each.name === name);
    t.match(unit?.contents, /^Environment=TMPDIR=\/run$/m, `${name} collects logs in memory`);
  }
  for (const name of ['in-place.ign', 'in-place.bundle', 'auth/kubeconfig'])
    t.equal((await stat(join(dir, name))).mode & 0o777, 0o600, name);
});

t.test('every documented configuration fits the user data of every cloud', async (t) => {
  const site = `additionalTrustBundle: |\n${SITE_CA.replaceAll(/^/gm, '  ')}\nadditionalTrustBundlePolicy: Always
proxy: {httpProxy: 'http://user:pass@proxy.example.com:3128', noProxy: '.example.com'}
imageDigestSources: [{source: quay.io/lab, mirrors: ['mirror.example.com:5000/lab']}]\n`;
  const documents = {
    'all-in-one': read('docs/examples/all-in-one/install-config.yaml'),
    'in-place': read('docs/examples/in-place/install-config.yaml'),
    static: read('docs/examples/bootstrap-in-place-static/install-config.yaml'),
    'with trust, proxy and mirrors': edited([...SELF, ['platform:', `${site}platform:`]]),
  };
  for (const [name, text] of Object.entries(documents)) {
    const dir = folder(t, selfOf(text));
    const { code, err } = await create(dir, ['--set', 'steadyStateMs=3600000']);
    t.equal(code, 0, `${name}: ${err}`);
    const bytes = Buffer.byteLength((await userData(dir)).text);
    t.comment(`${name}: ${bytes} bytes`);
    t.ok(bytes < USER_DATA_BYTES, `${name}: ${bytes} bytes`);
  }
});

/** For a host that runs from its disk: what an installer would do to the disk is left out. */
function selfOf(text: string): string {
  const lines = text.split('\n');
  const kept: string[] = [];
  let isLeftOut = false;
  for (const line of lines) {
    if (/^ {2}\S/.test(line) || /^\S/.test(line))
      isLeftOut =
        /^ {2}(installationDisk|existingSystem|kernelArguments|savePartitions|sealSecrets|target):/.test(
          line,
        );
    if (!isLeftOut) kept.push(line);
    if (/^bootstrapInPlace:/.test(line)) kept.push('  target: self');
  }
  return kept.join('\n');
}

t.test('too much for a cloud is refused, with what is large', async (t) => {
  const keys = Array.from({ length: 400 }, (_, at) => {
    const blob = Buffer.concat([
      Buffer.from('0000000b7373682d6564323535313900000020', 'hex'),
      Buffer.from(sha256(`${at}`), 'hex'),
    ]);
    return `  ssh-ed25519 ${blob.toString('base64')} me${at}\n`;
  });
  const dir = folder(t, edited(SELF).replace(/sshKey: \|\n.*\n/, `sshKey: |\n${keys.join('')}`));
  const { code, err } = await create(dir);
  t.equal(code, 2);
  t.match(err, /the user data is too large; nothing was written.*less than 16384 bytes/s);
  await t.rejects(stat(join(dir, 'in-place.bundle')), { code: 'ENOENT' });
});

t.test('refused before anything is written', async (t) => {
  const cases: [string, string, readonly string[], RegExp][] = [
    [
      'without a target',
      edited(SELF).replace('  target: self\n', ''),
      [],
      /bootstrapInPlace\.target is missing/,
    ],
    ...[
      'installationDisk: /dev/vda',
      'existingSystem: refuse',
      'kernelArguments: [quiet]',
      'savePartitions: {labels: [data]}',
      'sealSecrets: host',
    ].map((field): [string, string, readonly string[], RegExp] => [
      field,
      edited(SELF).replace('  target: self\n', `  target: self\n  ${field}\n`),
      [],
      new RegExp(
        `bootstrapInPlace\\.${field.split(':')[0]}: expected (nothing|none) with target: self`,
      ),
    ]),
    [
      'a URL with a user',
      edited(SELF),
      ['--bundle-url', 'https://me:pw@a.test/b'],
      /--bundle-url cannot be used/,
    ],
  ];
  for (const [name, text, args, says] of cases) {
    const dir = folder(t, text);
    const { code, err } = await create(dir, args);
    t.equal(code, 2, name);
    t.match(err, says, name);
    await t.rejects(stat(join(dir, 'in-place.ign')), { code: 'ENOENT' }, name);
  }
});

t.test('the host gets everything by URL, or everything from a medium', async (t) => {
  const unclear =
    /not clear.*expected --bundle-url, --agents-url, --payload-url; or --medium-iso alone/;
  const cases: [readonly string[], RegExp][] = [
    [[], /found none/],
    [URLS, /found --agents-url, --payload-url$/m],
    [['--bundle-url', BUNDLE_URL], /found --bundle-url$/m],
    [['--medium-iso', 'a.iso', '--bundle-url', BUNDLE_URL], /found --medium-iso, --bundle-url$/m],
  ];
  for (const [args, found] of cases) {
    const dir = folder(t);
    const { code, err } = await sno(['create', 'in-place-ignition', '--dir', dir, ...args]);
    t.equal(code, 2);
    t.match(err, unclear);
    t.match(err, found);
    t.notMatch(err, 's3cret');
  }
});

t.test("a person's own config with disks or users is refused by name", async (t) => {
  const dir = folder(t);
  const own = join(dir, '../own.ign');
  const config = {
    ignition: { version: '3.4.0' },
    storage: { disks: [{ device: '/dev/vdb' }], luks: [{ name: 'root', device: '/dev/vda4' }] },
    kernelArguments: { shouldExist: ['quiet'] },
    passwd: { users: [{ name: 'till' }] },
  };
  await writeFile(own, JSON.stringify(config));
  const { code, err } = await create(dir, ['--ignition', own]);
  t.equal(code, 2);
  for (const name of ['storage.disks', 'storage.luks', 'kernelArguments', 'passwd.users till'])
    t.match(err, name);
});

t.test('other commands refuse the target', async (t) => {
  const dir = folder(t);
  const executable = ['--agents-executable', join(dir, '../sno-agents')];
  const aio = await sno(['create', 'aio-ignition', '--dir', dir, ...executable, ...URLS]);
  t.match(aio, { code: 2, err: /bootstrapInPlace\.target is self/ });
  const live = await sno(['create', 'single-node-ignition-config', '--dir', dir, ...executable]);
  t.match(live, { code: 2, err: /bootstrapInPlace\.target: expected no target/ });
  t.ok(readFileSync(join(dir, 'install-config.yaml')), 'it is kept');
});

t.test('to whom the host reports and where its backups go is in the bundle', async (t) => {
  const dir = folder(t);
  const url = 'https://hub.example.com/';
  const recipients = ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'];
  const base = { apiVersion: 'sno-agents/v1', url };
  const files = {
    'report-to.json': { ...base, kind: 'ReportTo' },
    'backup-to.json': { ...base, kind: 'BackupTo', recipients },
  };
  for (const [name, to] of Object.entries(files)) {
    await writeFile(join(dir, name), JSON.stringify(to), { mode: 0o600 });
  }
  const { code, err } = await create(dir);
  t.equal(code, 0, err);
  const { config } = await userData(dir);
  const { bundle } = JSON.parse(
    contentsOf(config, '/var/lib/sno-agents/sno-in-place/in-place.json'),
  );
  const decrypter = new Decrypter();
  decrypter.addIdentity(bundle.key);
  const bytes = await readFile(join(dir, 'in-place.bundle'));
  const live = parseConfig(await decrypter.decrypt(bytes, 'text'), 'the bundle');
  for (const name of Object.keys(files)) {
    const path = `/etc/sno-agents/${name}`;
    t.match(contentsOf(effectiveConfig(live).config, path), url, name);
    t.notOk(pathsOf(config).includes(path), name);
  }
});
