/**
 * A host is lost with its disk: another one with other keys, another name and another address continues its
 * cluster from an encrypted backup. Each control plane is real, and runs as a kubelet would run it.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { backupContext } from '../../agents/steps/backup/context.ts';
import { runBackup } from '../../agents/upkeep/backup/main.ts';
import { backupPlan } from '../../agents/upkeep/backup/plan.ts';
import { plannedExport } from '../../agents/upkeep/backup/portable.ts';
import { restoreOnNewHost } from '../../agents/upkeep/backup/restore/new-host.ts';
import { identityContext } from '../../agents/upkeep/identity/context.ts';
import { identityPlan } from '../../agents/upkeep/identity/plan.ts';
import { issueLeaf } from '../../lab/certificates/signed-now.ts';
import { encrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import { writePortable } from '../../lib/change/backup/portable/write.ts';
import { identityChange } from '../../lib/change/identity/request.ts';
import { runAgentCommand } from '../../lib/engine/steps/agent-command.ts';
import { namesIn } from '../../lib/host/files.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';
import type { LeafProfile } from '../../lib/pki/leaf.ts';
import {
  type AuthorityName,
  authorityNames,
  authorityPaths,
  mediumServingCa,
} from '../../lib/render/kubernetes/authorities.ts';
import { kubernetesRenderer } from '../../lib/render/kubernetes/index.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { writeBackup } from '../unit/change/backup/backup-folder.ts';
import {
  ageKeys,
  BY_HOST,
  filesIn,
  headerOf,
  SIGNER,
  SIGNS,
} from '../unit/change/backup/portable-backup.ts';
import { input, rendered, textAt } from '../unit/render/rendered-host.ts';
import { ask } from './control-plane/request.ts';
import { settings, startHost } from './identity/host.ts';
import { isBound, NODES, POD_CIDR, populate, SHOP, VOLUMES } from './identity/populated.ts';

const output = { write: (line: string) => t.comment(line.trim()), isJournal: false };
const { signal } = new AbortController();
const { identity, recipient } = await ageKeys();
const OTHER = '11111111-1111-4111-8111-111111111111';
const OLD = 'edge-0';
const NEW = 'edge-2';
const NODE = { commonName: `system:node:${NEW}`, organizations: ['system:nodes'] };

/** The rendered files of a host that is installed with the same Ignition config. */
const newInput = {
  ...input,
  host: { ...input.host, hostname: NEW, nodeIps: ['192.0.2.50'] as [string] },
};
const newRendered = await kubernetesRenderer.render(newInput);

/** Those that need a kubelet and a runtime are shown in the lab. */
const NEEDS_KUBELET = ['serving-certificate', 'node-ready', 'steady-state'];

/** Loses a host, and restores its backup on another one. */
async function continued(t: Test, { keepsAuthorities }: { readonly keepsAuthorities: boolean }) {
  const lost = await startHost(t, rendered, input);
  const { claim } = await populate(lost, rendered, OLD);
  await lost.create(`${SHOP}/secrets`, {
    metadata: { name: 'kept' },
    stringData: { password: 'correct horse' },
  });
  const plan = backupPlan({ ...defaultSettings, ...settings });
  const context = () => backupContext(lost.paths);
  t.equal(await runAgentCommand({ plan, paths: lost.paths, context }, ['run'], output), 0);
  await mkdir(lost.paths.payload, { recursive: true });
  const { description } = headerOf(writeBackup(t.testdir())).payload;
  await writeFile(join(lost.paths.payload, 'payload.yaml'), JSON.stringify(description));
  const to = join(lost.folder, 'lost.age');
  const exported = await plannedExport(lost.paths, { to, recipient: [recipient] });
  const [name = ''] = await readdir(join(lost.paths.state, 'backups'));
  t.match(await exported?.(name), /encrypted for one recipient/);
  await lost.kubelet.stop();

  const host = await startHost(t, newRendered, newInput);
  const { paths } = host;
  host.has('192.0.2.50');
  await host.create(NODES, { metadata: { name: NEW } });
  await host.create('/api/v1/namespaces', { metadata: { name: 'of-the-new-cluster' } });
  const keys = join(host.folder, 'identity.txt');
  await writeFile(keys, identity);
  const author = BY_HOST;
  const options = {
    ...{ backup: to, identity: keys, author, keepsAuthorities },
    ...{ isConfirmed: true, isWaited: false },
  };
  const printed: string[] = [];
  const write = (text: string) => void printed.push(text);
  const steps = identityPlan({ ...defaultSettings, ...settings }).steps.filter(
    (step) => !NEEDS_KUBELET.includes(step.name),
  );
  const run = (...args: string[]) =>
    runAgentCommand(
      {
        plan: { ...identityPlan(defaultSettings), steps },
        paths,
        context: () => identityContext(paths),
      },
      ['run', ...args],
      output,
    );
  await t.rejects(restoreOnNewHost(paths, options, write), {
    kind: 'usage',
    message: /the installation is not complete/,
  });
  await writeFile(paths.record, '{}');
  const began = performance.now();
  await restoreOnNewHost(paths, options, write);
  // Killed after any step, it goes on.
  for (const step of ['rebuild', 'hold', 'replace', 'authorities', 'files', 'objects']) {
    t.equal(await run('--until', step), 0, step);
  }
  t.equal(await run(), 0);
  t.comment(`restored in ${Math.round(performance.now() - began)} ms`);
  return { host, claim, printed: printed.join('') };
}

/** A certificate that the authority of the lost host has signed, or whoever has its disk. */
function signedByLost(name: AuthorityName, subject: LeafProfile['subject']) {
  const { certificate, key } = authorityPaths(name);
  const authority = { certificate: textAt(certificate), key: textAt(key) };
  return issueLeaf(authority, { subject, usage: 'client' });
}

t.test('the cluster of a lost host is continued on another one', async (t) => {
  const { host, claim, printed } = await continued(t, { keepsAuthorities: false });
  const { paths } = host;
  t.match(printed, /name edge-0 -> edge-2\naddress 192\.0\.2\.10 -> 192\.0\.2\.50\n/);
  t.match(printed, /Everything that is in this new cluster will be lost/);

  const secret = await host.get(`${SHOP}/secrets/kept`);
  t.equal(Buffer.from(secret.data.password, 'base64').toString(), 'correct horse');
  t.equal(await host.code('/api/v1/namespaces/of-the-new-cluster'), 404);
  t.match(await host.get(`${NODES}/${NEW}`), { spec: { podCIDRs: [POD_CIDR] } });
  t.equal(await host.code(`${NODES}/${OLD}`), 404);
  await isBound(host);
  t.match(await host.get(`${VOLUMES}/pv-1`), {
    spec: { claimRef: { uid: claim }, persistentVolumeReclaimPolicy: 'Retain' },
  });
  const { metadata } = await host.get('/api/v1/namespaces');
  t.ok(Number(metadata.resourceVersion) > 1_000_000_000, 'revisions are bumped');

  const stolen = await signedByLost('kubelet-client', NODE);
  const port = host.kubelet.port(6443);
  const path = `${NODES}/${NEW}`;
  const answer = await ask({ port, ca: host.ca, ...stolen, method: 'GET', path });
  t.equal(answer.code, 401, 'the node certificates of the lost disk are refused');
  const trusted = await host.get(
    '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
  );
  t.notOk(trusted.data['client-ca-file'].includes(textAt(authorityPaths('admin').certificate)));
  const own = await readFile(paths.at(authorityPaths('admin').certificate), 'utf8');
  t.ok(trusted.data['client-ca-file'].includes(own));
});

t.test('with its authorities, what they have signed stays good', async (t) => {
  const { host, printed } = await continued(t, { keepsAuthorities: true });
  const { paths } = host;
  t.match(printed, /authorities of the lost host are kept.*whoever has\nits disk/);
  const port = host.kubelet.port(6443);
  const administrator = await signedByLost('admin', {
    commonName: 'its administrator',
    organizations: ['system:masters'],
  });
  // That of the lost host, which `host.ca` is not.
  const ca = textAt(authorityPaths('serving').certificate);
  const get = (path: string, by: KeyPair) => ask({ port, ca, ...by, method: 'GET', path });
  const secret = await get(`${SHOP}/secrets/kept`, administrator);
  t.equal(secret.code, 200, 'its kubeconfigs are good');
  const { data } = JSON.parse(secret.body);
  t.equal(Buffer.from(data.password, 'base64').toString(), 'correct horse');
  const node = await get(`${NODES}/${NEW}`, await signedByLost('kubelet-client', NODE));
  t.equal(node.code, 200, 'and so are certificates of its nodes');
  const { certificate, key } = authorityPaths('admin');
  const subject = { commonName: 'x', organizations: ['system:masters'] };
  const own = (wanted: string) =>
    newRendered.files.find(({ path }) => path === wanted)?.contents ?? '';
  const authority = { certificate: own(certificate), key: own(key) };
  const byReplaced = await issueLeaf(authority, { subject, usage: 'client' });
  t.equal((await get(NODES, byReplaced)).code, 401, 'those that this host had are gone');

  for (const name of authorityNames) {
    for (const path of Object.values(authorityPaths(name)).slice(1)) {
      t.equal(await readFile(paths.at(path), 'utf8'), textAt(path), path);
    }
  }
  const serving = await readFile(paths.at(mediumServingCa), 'utf8');
  t.equal(serving, textAt(authorityPaths('serving').certificate), 'metrics and findings say so');
  const kept: string[] = authorityNames.map((name) => authorityPaths(name).key);
  const keys = rendered.files.filter(
    ({ path, keyClass, uses }) =>
      keyClass === 'permanent' && uses.includes('control-plane') && !kept.includes(path),
  );
  t.ok(keys.length > 8);
  for (const { path, contents } of keys) {
    const text = await readFile(paths.at(path), 'utf8');
    t.notOk(text.includes(contents), `${path} is a key of this host`);
  }
});

t.test('a backup that cannot be used changes nothing', async (t) => {
  const folder = t.testdir({ backup: {}, host: {} });
  const { paths } = await startHost(t, newRendered, newInput);
  await mkdir(paths.state, { recursive: true });
  await writeFile(paths.record, '{}');
  const keys = join(folder, 'identity.txt');
  await writeFile(keys, identity);
  const to = join(folder, 'other.age');
  const own = headerOf(writeBackup(join(folder, 'backup'), {}, { clusterId: OTHER }));
  const { renderInput } = own;
  const elsewhere = { ...renderInput.cluster, clusterId: OTHER };
  const header = { ...own, renderInput: { ...renderInput, cluster: elsewhere } };
  const encrypter = encrypterFor([recipient]);
  await writePortable(
    to,
    { header, contentsOf: filesIn(join(folder, 'backup')), signs: SIGNS, encrypter },
    signal,
  );
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const restore = async (...args: string[]) => {
    const exit = await runBackup(paths, ['restore', ...args], { write: () => {} });
    return { exit, errors: errors.splice(0).join('') };
  };
  const signer = join(folder, 'backup-signer.json');
  await writeFile(signer, JSON.stringify(SIGNER));
  const whole = ['--new-host', '--backup', to, '--identity', keys, '--yes'];
  t.match(await restore(...whole, '--accept-unsigned', OTHER), {
    exit: 2,
    errors: new RegExp(`another cluster; expected ${cluster.clusterId}; found ${OTHER}`),
  });
  t.match(await restore(...whole, '--signer', signer), {
    exit: 2,
    errors: new RegExp(`of the cluster ${OTHER}, expected ${cluster.clusterId}`),
  });
  t.match(await restore(...whole), { exit: 2, errors: /who may have made the backup/ });
  t.match(await restore('--new-host', '--backup', to), {
    exit: 2,
    errors: /expected --from NAME, or --new-host/,
  });
  t.match(await restore('--from', 'x', '--new-host'), { exit: 2, errors: /expected --from NAME/ });
  t.match(await restore('--from', 'x', '--keep-authorities'), {
    exit: 2,
    errors: /expected --from NAME/,
  });
  t.equal(await identityChange.read(paths), undefined);
  t.strictSame(await namesIn(join(paths.state, 'backups')), []);
  const partial = join(folder, 'partial.age');
  const some = headerOf(writeBackup(join(folder, 'some'), {}, { clusterId: cluster.clusterId }));
  await writePortable(
    partial,
    { header: some, contentsOf: filesIn(join(folder, 'some')), signs: SIGNS, encrypter },
    signal,
  );
  const keep = [
    '--new-host',
    '--backup',
    partial,
    '--identity',
    keys,
    '--keep-authorities',
    '--yes',
    '--signer',
    signer,
  ];
  t.match(await restore(...keep), {
    exit: 2,
    errors: /does not have all authorities of its host; found no \S+\/ca\/etcd\/ca\.crt, /,
  });
  t.equal(await identityChange.read(paths), undefined);
});
