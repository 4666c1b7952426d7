/** `sno create site-volume` and `site-volumes` with the real xorriso, ssh-keygen and age, opened as a node does. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { identityToRecipient } from 'age-encryption';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { withIso } from '../../../cli/site/write-medium.ts';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { createSigningKey } from '../../../lib/pki/keys.ts';
import { certificateRequest } from '../../../lib/pki/request.ts';
import { openVolume } from '../../../lib/relocation/site-volume/open-volume.ts';
import type { VolumeRules } from '../../../lib/relocation/site-volume/volume.ts';
import { type Run, sno } from '../../unit/cli/run-sno.ts';
import { ageKeys, facts, rules, SITE, signal } from '../../unit/relocation/site-volume/volumes.ts';

const skip =
  (await execa('xorriso', ['-version'], { reject: false })).failed && 'xorriso is not installed';
const node = await ageKeys();
const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: site}\n';
const SECRETS = /PRIVATE KEY|AGE-SECRET/;

const run = (...args: string[]): Promise<Run> => sno(args, { PATH: process.env.PATH ?? '' });

async function siteFolder(t: Test, config = SITE) {
  const root = t.testdir({
    site: { 'site-config.yaml': config, 'extra-manifests': { 'a.yaml': MANIFEST, README: 'x' } },
    'host-facts.json': JSON.stringify({ ...facts, recipient: node.recipient }),
    'identity.txt': node.identity,
  });
  const key = join(root, 'key');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  return { root, dir: join(root, 'site'), key };
}

/** As the node opens it, with the rules of a strict factory. */
function open(iso: string, root: string, different: Partial<VolumeRules> = {}) {
  const strict = {
    allowedSigners: [readFileSync(join(root, 'key.pub'), 'utf8')],
    unsignedAllowed: false,
    ageIdentity: node.identity,
    now: new Date(),
  };
  const work = join(root, 'work');
  return withIso(iso, signal, (folder) =>
    openVolume(folder, rules({ ...strict, ...different }), work, signal),
  );
}

t.test(
  'encrypted: the site brings its authorities and the laptop keeps a kubeconfig',
  { skip },
  async (t) => {
    const { root, dir, key } = await siteFolder(t);
    const args = ['create', 'site-volume', '--dir', dir, '--sign', key];
    const made = await run(...args, '--host-facts', join(root, 'host-facts.json'));
    t.equal(made.code, 0, made.err);
    t.match(made.out, /site-volume\.iso \(serial \d+, encrypted for one node\)/);
    t.match(made.err, /README is not a manifest/);
    t.same(readdirSync(dir).toSorted(), [
      'auth',
      'extra-manifests',
      'site-config.yaml',
      'site-volume.iso',
    ]);
    t.equal(statSync(join(dir, 'site-volume.iso')).mode & 0o777, 0o600);
    t.equal(statSync(join(dir, 'auth/kubeconfig')).mode & 0o777, 0o600);
    t.notMatch(readFileSync(join(dir, 'site-volume.iso'), 'latin1'), SECRETS);
    const results = readFileSync(join(dir, 'auth/result.agekey'), 'utf8').trim();
    t.equal(statSync(join(dir, 'auth/result.agekey')).mode & 0o777, 0o600);

    const volume = await open(join(dir, 'site-volume.iso'), root);
    t.match(volume.signedBy, /^SHA256:/);
    t.match(volume.manifests, [{ kind: 'ConfigMap' }]);
    t.equal(
      Buffer.from(volume.files.get('result-recipient.txt') ?? []).toString(),
      `${await identityToRecipient(results)}\n`,
    );
    if (volume.credentials.kind !== 'authorities') throw new Error(volume.credentials.kind);
    const { servingCa, adminCa } = volume.credentials;
    const kubeconfig = parse(readFileSync(join(dir, 'auth/kubeconfig'), 'utf8'));
    const cluster = kubeconfig.clusters[0].cluster;
    t.equal(cluster.server, 'https://api.shop.example.com:6443');
    const trusted = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
    t.equal(trusted, servingCa.certificate);
    const user = kubeconfig.users[0].user;
    const client = Buffer.from(user['client-certificate-data'], 'base64').toString();
    t.ok(await isIssuedBy(client, adminCa.certificate));
    t.match(inspectCertificate(client).subject, { organizations: ['system:masters'] });
    t.equal(
      [...volume.files.keys()].some((path) => path.includes('admin-ca.key')),
      false,
    );

    const again = await run(...args);
    t.equal(again.code, 2);
    t.match(again.err, /There is already .*site-volume\.iso/);
  },
);

t.test('not encrypted: a request, and no private key', { skip }, async (t) => {
  const { root, dir, key } = await siteFolder(t);
  const made = await run('create', 'site-volume', '--dir', dir, '--sign', key);
  t.equal(made.code, 0, made.err);
  t.match(made.out, /not encrypted, without private keys/);
  t.same(readdirSync(join(dir, 'auth')).toSorted(), ['admin.csr', 'admin.key']);
  t.equal(statSync(join(dir, 'auth/admin.key')).mode & 0o777, 0o600);
  const iso = readFileSync(join(dir, 'site-volume.iso'), 'latin1');
  t.notMatch(iso, SECRETS);
  const { credentials } = await open(join(dir, 'site-volume.iso'), root, {
    ageIdentity: undefined,
  });
  t.same(credentials, {
    kind: 'request',
    request: readFileSync(join(dir, 'auth/admin.csr'), 'utf8'),
  });
  const label = await execa('xorriso', ['-indev', join(dir, 'site-volume.iso'), '-pvd_info']);
  t.match(label.stdout, /Volume Id *: SITE-CONFIG/);
});

t.test("the administrator's own request, into a folder", async (t) => {
  const { root, dir } = await siteFolder(t);
  const csr = join(root, 'mine.csr');
  const subject = { commonName: 'me', organizations: ['system:masters'] };
  writeFileSync(csr, await certificateRequest(subject, await createSigningKey()));
  const folder = join(root, 'stick');
  const made = await run('create', 'site-volume', '--dir', dir, '--csr', csr, '--folder', folder);
  t.equal(made.code, 0, made.err);
  t.match(made.err, /Notice: not signed/);
  t.notOk(existsSync(join(dir, 'auth')));
  t.same(readdirSync(folder).toSorted(), [
    'credentials',
    'extra-manifests',
    'site-config.yaml',
    'site-volume.json',
    'sno-kubeconfig.yaml',
    'sno-result.html',
    'sno-result.txt',
  ]);
  const checked = await run('verify', 'site-volume', folder);
  t.match(checked.out, /credentials request/);
});

t.test('nothing is written for what is refused', { skip }, async (t) => {
  const { root, dir, key } = await siteFolder(t, `${SITE}machine_networks: [10.128.0.0/16]\n`);
  writeFileSync(join(root, 'no.csr'), 'none');
  const host = ['--host-facts', join(root, 'host-facts.json')];
  for (const [args, says] of [
    [host, /site-config\.yaml:4:20 machine_networks\[0\]/],
    [['--host-facts', key], /has no facts of a node/],
    [['--recipient', 'age1none'], /is not a recipient of age/],
    [['--csr', join(root, 'no.csr')], /--csr \S+no\.csr cannot be used/],
    [['--sign', join(root, 'no-key')], /cannot sign/],
    [['--iso', 'a', '--folder', 'b'], /exclude each other/],
    [['--dir', root], /site-config\.yaml does not exist/],
  ] as const) {
    const from = args[0] === '--dir' ? [] : ['--dir', dir];
    const { code, err } = await run('create', 'site-volume', ...from, ...args);
    t.equal(code, 2, args.join(' '));
    t.match(err, says);
  }
  writeFileSync(join(dir, 'extra-manifests/b.yaml'), MANIFEST);
  const twice = await run('create', 'site-volume', '--dir', dir);
  t.match(twice.err, /b\.yaml:1: the same object as in extra-manifests\/a\.yaml/);
  t.same(readdirSync(dir).toSorted(), ['extra-manifests', 'site-config.yaml']);
});

t.test('what a node would refuse is refused on the laptop', { skip }, async (t) => {
  const { root, dir, key } = await siteFolder(t);
  const iso = join(dir, 'site-volume.iso');
  await run('create', 'site-volume', '--dir', dir, '--sign', key, '--recipient', node.recipient);
  const good = ['--ssh-key', `${key}.pub`, '--identity', join(root, 'identity.txt')];
  const checked = await run('verify', 'site-volume', iso, ...good);
  t.equal(checked.code, 0, checked.err);
  t.match(checked.out, /site {8}shop\.example\.com[\s\S]*credentials authorities/);
  t.match((await run('verify', 'site-volume', iso)).out, /encrypted {3}not opened/);
  const stranger = join(root, 'stranger');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', stranger]);
  const refused = await run('verify', 'site-volume', iso, '--ssh-key', `${stranger}.pub`);
  t.equal(refused.code, 2);
  t.match(refused.err, /not signed by an allowed key/);
});

const TEMPLATE = `api_version: 1
cluster_name: shop-\${number}
base_domain: example.com
hosts: ["\${machine}"]
serial: \${volume}
`;

t.test('a volume for each row of a table', { skip }, async (t) => {
  const { root, dir, key } = await siteFolder(t, TEMPLATE);
  const table = join(root, 'sites.csv');
  const output = join(root, 'volumes');
  writeFileSync(
    table,
    `site,number,machine,volume,recipient\nberlin,1,CZ1234ABCD,5,\nrome,2,X2,,${node.recipient}\n`,
  );
  const args = ['create', 'site-volumes', '--dir', dir, '--table', table, '--output', output];
  const made = await run(...args, '--sign', key);
  t.equal(made.code, 0, made.err);
  t.same(readdirSync(output).toSorted(), ['berlin', 'results.jsonl', 'rome', 'run.json']);
  t.same(readdirSync(join(output, 'rome')).toSorted(), ['auth', 'site-volume.iso']);
  const berlin = await open(join(output, 'berlin/site-volume.iso'), root);
  t.match(berlin, { use: { serial: 5 }, config: { clusterName: 'shop-1', hosts: ['cz1234abcd'] } });
  t.equal(berlin.credentials.kind, 'request');
  const other = { facts: { ...facts, identifiers: ['x2'] } };
  const rome = await open(join(output, 'rome/site-volume.iso'), root, other);
  t.equal(rome.credentials.kind, 'authorities');
  await t.rejects(open(join(output, 'rome/site-volume.iso'), root), {
    message: /for another node/,
  });

  t.match(made.err, /Notice: no validUntil: .* \(2 sites: berlin, rome\)/);

  writeFileSync(table, 'site,number,machine,volume\na,1,x,0\nb,_,x,1\nc,1,x,1\n');
  const bad = await run(...args.slice(0, -1), join(root, 'other'));
  t.equal(bad.code, 2);
  t.match(bad.err, /^sno: 2 errors; nothing was written/);
  t.match(bad.err, /line 2 \(a\): [\s\S]*5:9 serial[\s\S]*line 3 \(b\): [\s\S]*2:15 cluster_name/);
  t.notOk(existsSync(join(root, 'other')));
});

t.test(
  'rows are compared with the nodes that they are for, and with each other',
  { skip },
  async (t) => {
    const { root, dir } = await siteFolder(t, TEMPLATE);
    const table = join(root, 'sites.csv');
    const args = ['create', 'site-volumes', '--dir', dir, '--table', table];
    writeFileSync(table, 'site,number,machine,volume\na,1,x1,1\nb,2,X1,1\nc,1,x3,1\n');
    const repeated = await run(...args, '--output', join(root, 'repeated'));
    t.equal(repeated.code, 2);
    t.match(
      repeated.err,
      /2 errors[\s\S]*line 3: the machine x1 is that of line 2[\s\S]*line 4: the domain/,
    );

    const nodes = join(root, 'nodes');
    mkdirSync(nodes);
    writeFileSync(table, 'site,number,machine,volume\na,1,x1,1\nb,2,x2,1\n');
    writeFileSync(join(nodes, 'a.json'), JSON.stringify({ ...facts, identifiers: ['another'] }));
    writeFileSync(join(nodes, 'b.json'), JSON.stringify({ ...facts, identifiers: ['x2'] }));
    const compared = await run(
      ...args,
      '--output',
      join(root, 'compared'),
      '--host-facts-dir',
      nodes,
    );
    t.equal(compared.code, 2);
    t.match(compared.err, /1 error[\s\S]*line 2 \(a\): [\s\S]*hosts/);
    t.notMatch(compared.err, /\(b\)/);
    rmSync(join(nodes, 'b.json'));
    const missing = await run(
      ...args,
      '--output',
      join(root, 'missing'),
      '--host-facts-dir',
      nodes,
    );
    t.match(missing.err, /line 3 \(b\): .*b\.json cannot be read/);
  },
);

t.test('to whom the node reports', { skip }, async (t) => {
  const { root, dir } = await siteFolder(t);
  const path = join(dir, 'report-to.json');
  const kind = { apiVersion: 'sno-agents/v1', kind: 'ReportTo' };
  writeFileSync(path, JSON.stringify({ ...kind, url: 'https://hub.example/r', token: 'abc' }));
  const plain = await run('create', 'site-volume', '--dir', dir);
  t.equal(plain.code, 2);
  t.match(
    plain.err,
    /a token is never written to a volume that is not encrypted.*report-to\.json/s,
  );
  t.notOk(existsSync(join(dir, 'site-volume.iso')));
  const made = await run('create', 'site-volume', '--dir', dir, '--recipient', node.recipient);
  t.equal(made.code, 0, made.err);
  const checked = await run(
    ...['verify', 'site-volume', join(dir, 'site-volume.iso')],
    ...['--identity', join(root, 'identity.txt')],
  );
  t.match(checked.out, /reports to {2}https:\/\/hub\.example$/m);
  t.notMatch(checked.out, 'abc');

  writeFileSync(path, JSON.stringify({ ...kind, url: 'http://hub.example/r' }));
  const wrong = await run('verify', 'site-config', join(dir, 'site-config.yaml'));
  t.equal(wrong.code, 2);
  t.match(wrong.err, /report-to\.json cannot be used.*url/s);
});

t.test('an ISO that was not copied whole', { skip }, async (t) => {
  const { dir } = await siteFolder(t);
  const made = await run('create', 'site-volume', '--dir', dir);
  t.equal(made.code, 0, made.err);
  const iso = join(dir, 'site-volume.iso');
  // The files are behind the folders.
  truncateSync(iso, 56 << 10);
  t.match(await run('verify', 'site-volume', iso), {
    code: 2,
    err: /site-volume\.iso cannot be read whole; nothing was changed.*copy it again/s,
  });
});

t.test('one Site of a hub is not for all rows of a table', { skip }, async (t) => {
  const { root, dir } = await siteFolder(t, TEMPLATE);
  const authority = await createAuthority('hub');
  const subject = { commonName: 'sno:site:shops:a', organizations: ['sno:sites'] };
  const client = await issueLeaf(authority, { subject, usage: 'client' });
  const hub = {
    ...{ server: 'https://hub.example', certificateAuthority: authority.certificate },
    ...{ namespace: 'shops', name: 'a', ...client },
  };
  const to = { apiVersion: 'sno-agents/v1', kind: 'ReportTo', hub };
  writeFileSync(join(dir, 'report-to.json'), JSON.stringify(to));
  const table = join(root, 'sites.csv');
  writeFileSync(table, 'site,number,machine,volume\na,1,x1,1\nb,2,x2,1\n');
  const args = ['--dir', dir, '--table', table, '--output', join(root, 'volumes')];
  const { code, err } = await run('create', 'site-volumes', ...args);
  t.equal(code, 2);
  t.match(err, /report-to\.json names one Site of a hub, and the table has several rows/);
});
