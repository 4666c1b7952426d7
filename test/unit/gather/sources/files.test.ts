import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { agents } from '../../../../agents/gather/sources/agents.ts';
import { assets } from '../../../../agents/gather/sources/assets.ts';
import { file, folder, linkedFile } from '../../../../agents/gather/sources/file.ts';
import { ignition } from '../../../../agents/gather/sources/ignition.ts';
import { kubelet } from '../../../../agents/gather/sources/kubelet.ts';
import { network } from '../../../../agents/gather/sources/network.ts';
import { staticPods } from '../../../../agents/gather/sources/static-pods.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { hostAt, listed, read, textOf } from './host.ts';

const OURS = 'control-plane/master';

t.test(
  'a file is read unchanged, only its end if it is too long, never through a link',
  async (t) => {
    const root = t.testdir({ small: 'one\ntwo\n', 'packed.gz': gzipSync('packed\n'), folder: {} });
    const host = hostAt(root, root);
    const text = (name: string, limitBytes = 1000) =>
      textOf(file('x', join(root, name), { limitBytes }), host);
    t.equal(await text('small'), 'one\ntwo\n');
    t.equal(await text('small', 6), 'two\n', 'from the beginning of a line');
    t.equal(await text('packed.gz'), 'packed\n');
    await symlink(join(root, 'small'), join(root, 'link'));
    await t.rejects(text('link'), { code: 'ELOOP' });
    await t.rejects(text('folder'), { message: /is not a regular file/ });
    await t.rejects(text('nothing'), { code: 'ENOENT' });
    await writeFile(join(root, 'torn.gz'), gzipSync('x'.repeat(100_000)).subarray(0, 60));
    await t.rejects(text('torn.gz'), { code: 'Z_BUF_ERROR' });
  },
);

t.test('a large file is read in chunks that are good until the next', async (t) => {
  const lines = Array.from({ length: 60_000 }, (_, line) => `line ${line}\n`).join('');
  const root = t.testdir({ large: lines });
  const host = hostAt(root, root);
  const limitBytes = 1 << 19;
  const end = lines.slice(lines.indexOf('\n', lines.length - limitBytes) + 1);
  t.equal(await textOf(file('x', join(root, 'large'), { limitBytes: 1 << 20 }), host), lines);
  t.equal(await textOf(file('x', join(root, 'large'), { limitBytes }), host), end);
  const chunks = file('x', join(root, 'large')).open(host, AbortSignal.abort(new Error('stopped')));
  await t.rejects(Array.fromAsync(chunks), { message: 'stopped' });
});

t.test('a link is followed if its target is in an allowed folder', async (t) => {
  const root = t.testdir({
    etc: {},
    run: { 'resolv.conf': 'nameserver 192.0.2.1\n' },
    home: { x: '' },
  });
  await symlink('../run/resolv.conf', join(root, 'etc/resolv.conf'));
  await symlink('../home/x', join(root, 'etc/outside'));
  const host = hostAt(root, root);
  const folders = [join(root, 'etc'), join(root, 'run')];
  const text = (name: string) => textOf(linkedFile('x', join(root, 'etc', name), folders), host);
  t.equal(await text('resolv.conf'), 'nameserver 192.0.2.1\n');
  await t.rejects(text('outside'), { message: /outside is a link that leads elsewhere/ });
});

t.test('names with control characters are not listed', async (t) => {
  const root = t.testdir({
    'a.log': '',
    'b\u001b[2J.log': '',
    'c\u202e.log': '',
    d: { 'e.log': '' },
  });
  const paths = (await folder('log', root)).map(({ path }) => path);
  t.strictSame(paths, ['log/a.log', 'log/d/e.log']);
});

/** What docs/support.md tells people to read after a site, an update or a restore. */
const RECORDS = [
  ...['reconfigure/request.json', 'reconfigure/result.json', 'reconfigure/used.json'],
  ...['sno-update/request.json', 'sno-update/result.json'],
  ...['sno-backup-restore/request.json', 'sno-backup-restore/result.json'],
];

t.test("the agents' files, each in its place", async (t) => {
  const root = t.testdir({});
  const put = async (path: string, contents: string) => {
    const place = join(root, 'host', path);
    await mkdir(join(place, '..'), { recursive: true });
    await writeFile(place, contents);
  };
  await put('/var/lib/sno-agents/post-reboot/journal.jsonl', '{"step":"api"}\n');
  await put('/var/lib/sno-agents/live/bootkube.jsonl', '{"step":"render"}\n');
  await put('/var/lib/sno-agents/record.json', '{}');
  await put('/var/lib/sno-agents/sno-renew/attempts.json', '{}');
  await put('/var/lib/sno-agents/backups/20300101T000000Z/host/ca.key', 'a key');
  await put('/var/lib/sno-agents/sno-rotate/last.json', '{}');
  for (const path of RECORDS) await put(`/var/lib/sno-agents/${path}`, '{}');
  await put('/var/lib/sno-agents/reconfigure/credentials.json', '{"key":"a key"}');
  await put('/var/lib/sno-agents/reconfigure/site/site-config.yaml', 'pull_secret: a key\n');
  await put('/var/lib/sno-agents/sno-rotate/staged.json', '{"contents":"a key"}');
  await put('/run/sno-agents/post-reboot/status.json', '{}');
  await put('/var/log/openshift/bootkube.json', '[]');
  await put('/etc/sno-agents/cluster.json', '{"name":"sno","sshKeys":["ssh-rsa AAAA"]}');
  await put('/etc/sno-agents/bootstrap-admin.key', 'a key');
  await put('/etc/sno-agents/deferred/0001.secret.json', '{"kind":"Secret"}');
  const host = hostAt(join(root, 'host'), root);
  const sources = await listed(agents, host);
  t.strictSame([...sources.keys()].map((path) => path.replace(`${OURS}/`, '')).toSorted(), [
    'agents/backups.json',
    'agents/cluster.json',
    'agents/deferred.txt',
    'agents/reconfigure-request.json',
    'agents/reconfigure-volumes.json',
    'agents/reconfigure.json',
    'agents/record.json',
    'agents/renewals.json',
    'agents/restore-request.json',
    'agents/restore.json',
    'agents/rotation.json',
    'agents/state.txt',
    'agents/status/post-reboot.json',
    'agents/update-request.json',
    'agents/update.json',
    'services/bootkube.json',
    'steps/live/bootkube.jsonl',
    'steps/post-reboot.jsonl',
  ]);
  const texts = await Promise.all([...sources.values()].map((source) => textOf(source, host)));
  t.notMatch(texts.join(''), /a key|ssh-rsa|"Secret"/);
  t.match(texts.join(''), '0001.secret.json', 'by its name');
});

t.test('a broken cluster.json is not quoted in its reason', async (t) => {
  const root = t.testdir({ etc: { 'sno-agents': { 'cluster.json': 'geheim{' } } });
  await t.rejects(read(agents, hostAt(root, root), `${OURS}/agents/cluster.json`), {
    message: new RegExp(`^${join(root, 'etc/sno-agents/cluster.json')} is not JSON$`),
  });
});

t.test('static pods, and what may be revealed of the files beside them', async (t) => {
  const manifest = 'kind: Pod\n';
  const root = t.testdir({
    etc: {
      kubernetes: {
        manifests: { 'etcd-pod.yaml': manifest, '.hidden.yaml': 'x', 'note.txt': 'x' },
        pki: { 'ca.crt': 'certificate', 'ca.key': 'key' },
        kubeconfig: 'token: geheim',
      },
    },
  });
  await symlink('ca.crt', join(root, 'etc/kubernetes/pki/link.crt'));
  const host = hostAt(root, root);
  const sources = await listed(staticPods, host);
  t.strictSame(
    [...sources.keys()].map((path) => path.replace(`${OURS}/static-pods/`, '')),
    ['etcd-pod.yaml', 'folder.txt', 'hashes.txt'],
  );
  t.match(sources.get(`${OURS}/static-pods/etcd-pod.yaml`), { format: 'text', phase: 'diagnosis' });
  const lines = (await read(staticPods, host, `${OURS}/static-pods/hashes.txt`)).split('\n');
  const hashes = lines.map((line) => line.split('  ').slice(0, 3).join(' '));
  const linked = hashes.find((line) => line.includes('link.crt'));
  t.match(linked, /^- /, 'a link has no hash');
  t.strictSame(
    hashes.filter((line) => line !== linked),
    [
      '- /etc/kubernetes/kubeconfig 13',
      `${sha256('x')} /etc/kubernetes/manifests/.hidden.yaml 1`,
      `${sha256(manifest)} /etc/kubernetes/manifests/etcd-pod.yaml 10`,
      '- /etc/kubernetes/manifests/note.txt 1',
      `${sha256('certificate')} /etc/kubernetes/pki/ca.crt 11`,
      '- /etc/kubernetes/pki/ca.key 3',
      '',
    ],
  );
});

t.test("the kubelet's configuration, never its kubeconfig", async (t) => {
  const root = t.testdir({
    etc: { kubernetes: { 'kubelet.yaml': 'kind: KubeletConfiguration\n' } },
    var: { lib: { kubelet: { kubeconfig: 'token: geheim', pki: { 'a.pem': 'key' } } } },
  });
  const host = hostAt(root, root);
  const sources = await listed(kubelet, host);
  t.equal(await read(kubelet, host, `${OURS}/kubelet/config.yaml`), 'kind: KubeletConfiguration\n');
  t.match(await read(kubelet, host, `${OURS}/kubelet/pki.txt`), 'a.pem');
  t.notOk([...sources.keys()].some((path) => path.includes('kubeconfig')));
  t.notOk(sources.has(`${OURS}/kubelet/cni.txt`), 'a folder that is not there');
  const health = await read(kubelet, host, `${OURS}/kubelet/healthz.txt`);
  t.match(health, /^(ok|HTTP \d+|no answer of )/, 'an answer or the reason for none');
});

t.test('proxies are listed without credentials', async (t) => {
  const root = t.testdir({
    etc: {
      'sno-agents': {
        'proxy.env':
          'HTTP_PROXY=http://user:p@ss/word@proxy.test:3128\nNO_PROXY=a,b\nOTHER=geheim\n',
      },
    },
  });
  const text = await read(network, hostAt(root, root), `${OURS}/network/proxy.txt`);
  t.match(text, 'HTTP_PROXY=http://<redacted>@proxy.test:3128\n');
  t.match(text, 'NO_PROXY=a,b\n');
  t.notMatch(text, /user|word|geheim/);
});

t.test('rendered assets of the live host, except those excluded by name', async (t) => {
  const root = t.testdir({
    opt: {
      openshift: {
        manifests: { 'a.yaml': 'a: 1\n', 'b-secret.yaml': 'kind: Secret\n' },
        tls: { 'ca.key': 'key' },
        'master.ign': '{}',
        'rendered.json': '{}',
        'large.txt': 'x'.repeat(5 << 20),
      },
    },
  });
  const host = hostAt(root, root, { stage: 'live', folder: 'bootstrap' });
  const sources = await listed(assets, host);
  t.strictSame(
    [...sources.keys()],
    ['rendered-assets/manifests/a.yaml', 'rendered-assets/left-out.txt'],
  );
  t.match(sources.get('rendered-assets/manifests/a.yaml'), { format: 'text', phase: 'bulk' });
  const leftOut = await read(assets, host, 'rendered-assets/left-out.txt');
  for (const name of ['large.txt', 'manifests/b-secret.yaml', 'master.ign', 'tls/ca.key']) {
    t.match(leftOut, JSON.stringify(name));
  }
  t.equal((await listed(assets, hostAt(root, root))).size, 0, 'none on the installed host');
});

t.test("Ignition's result, where there is one", async (t) => {
  const root = t.testdir({ etc: { '.ignition-result.json': '{"provisioningDate":"now"}' } });
  t.match(
    await read(ignition, hostAt(root, root), `${OURS}/ignition/result.json`),
    'provisioningDate',
  );
});
