/** The disk becomes that of the installed host, whatever happens meanwhile. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { forget } from '../../../../agents/in-place/forget.ts';
import { restartInstalled } from '../../../../agents/in-place/restart.ts';
import { inPlaceStage } from '../../../../agents/in-place/stage.ts';
import { stage } from '../../../../agents/install-to-disk/in-place/stage.ts';
import { commit } from '../../../../agents/steps/in-place/commit.ts';
import { underlying } from '../../../../lib/cluster/installation/in-place/places.ts';
import { stagedFile } from '../../../../lib/cluster/installation/in-place/staged.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  user,
} from '../../../../lib/render/ignition/entries.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { bootingHost, DISK, FOLDER } from './in-place-host.ts';

const installed = configOf({
  directories: [directory('/etc/kubernetes/pki', 0o700)],
  files: [
    file('/etc/kubernetes/pki/ca.key', 0o600, 'a key'),
    file('/etc/hostname', 0o644, 'edge-0\n'),
  ],
  links: [
    link('/usr/local/bin/post-reboot', '/var/lib/sno-agents/bin/sno-agents'),
    link('/etc/issue.d/sno.issue', '/run/sno-agents/console.issue'),
  ],
  units: [
    unit('kubelet.service', {
      enabled: true,
      contents: '[Install]\nWantedBy=multi-user.target\n',
      dropins: [{ name: '50-own.conf', contents: '[Service]\n' }],
    }),
    unit('sno-backup.service', { enabled: false, contents: '[Service]\n' }),
    unit('old.service', { mask: true }),
  ],
  users: [user('core', { sshAuthorizedKeys: ['ssh-ed25519 A me'], groups: ['sudo'] })],
});

/** Of the disk below `root`: enabling leaves a link. */
const SYSTEMCTL = `root=\${1#--root=}; verb=$2; shift 2
[ "$verb" = enable ] || exit 0
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
for unit; do : > "$root/etc/systemd/system/multi-user.target.wants/$unit"; done`;

function host(t: Test, config: object = installed): TestHost {
  const it = testHost(t);
  it.programs.give('systemctl', SYSTEMCTL);
  it.programs.give('sync', 'exit 0');
  it.write('/etc/machine-id', `${'1'.repeat(32)}\n`);
  it.write('/opt/openshift/master.ign', JSON.stringify(config), 0o600);
  it.write('/var/lib/sno-agents/bootkube/journal.jsonl', '{"step":"finish"}\n');
  for (const folder of ['etc/systemd/system', 'var/lib/sno-agents/sno-in-place', 'usr/local/bin'])
    mkdirSync(it.at(`${DISK}/${folder}`), { recursive: true });
  it.write(`${DISK}/etc/hostname`, 'localhost\n');
  it.write(`${DISK}/etc/machine-id`, `${'1'.repeat(32)}\n`);
  return it;
}

const onDisk = commit(({ paths }) => underlying(paths));

/** Every file of the disk, but for the times and the list of what was staged. */
function tree(it: TestHost): Record<string, string> {
  const root = it.at(DISK);
  const found: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(root, name);
    const stats = lstatSync(path);
    // What a killed run has left of the list or of the marker has no secret.
    if (stats.isDirectory() || /staged\.json|\.[0-9a-f]{8}\.new$/.test(name)) continue;
    const contents = stats.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : readFileSync(path, 'utf8');
    const mode = stats.isSymbolicLink() ? '' : (stats.mode & 0o777).toString(8);
    found[name] = `${mode} ${contents.replace(/"at": "[^"]+"/, '')}`;
  }
  return found;
}

t.test('each file is beside its place first, and in it afterwards', async (t) => {
  // As in its unit.
  const mask = process.umask(0o077);
  t.teardown(() => process.umask(mask));
  const it = host(t);
  t.equal(await it.holds(stage), false);
  await it.run(stage);
  t.equal(await it.holds(stage), true);
  t.equal(it.read(`${DISK}/etc/hostname`), 'localhost\n', 'nothing is replaced yet');
  t.notOk(it.has(`${DISK}/etc/systemd/system/kubelet.service`));
  t.notOk(it.has('/etc/kubernetes'), 'nothing is written over the disk');
  t.equal(await it.holds(onDisk), false);
  await it.run(onDisk);
  t.equal(await it.holds(onDisk), true);
  const files = tree(it);
  t.match(files, {
    'etc/kubernetes/pki/ca.key': '600 a key',
    'etc/hostname': '644 edge-0\n',
    'etc/systemd/system/kubelet.service': /WantedBy/,
    'etc/systemd/system/old.service': '-> /dev/null',
    'etc/systemd/system/multi-user.target.wants/kubelet.service': '644 ',
    'usr/local/bin/post-reboot': '-> /var/lib/sno-agents/bin/sno-agents',
    'var/lib/sno-agents/live/bootkube.jsonl': /"finish"/,
    'var/lib/sno-agents/installation.json': /"finished"/,
  });
  t.equal(it.mode(`${DISK}/etc/kubernetes/pki`), 0o700);
  const units = ['kubelet.service.d', 'multi-user.target.wants'];
  for (const folder of ['issue.d', ...units.map((name) => `systemd/system/${name}`)])
    t.equal(it.mode(`${DISK}/etc/${folder}`), 0o755, folder);
  t.same(
    Object.keys(files).filter((name) => name.includes('sno-staged')),
    [],
    'nothing is left beside',
  );
  t.same(
    it.programs.calls('systemctl').map((call) => call.replaceAll(it.root, '')),
    [
      `systemctl --root=${DISK} disable sno-backup.service`,
      `systemctl --root=${DISK} enable kubelet.service`,
    ],
    'the systemd that runs is not asked',
  );
});

t.test('with SELinux, what was made gets the labels of its places', async (t) => {
  const it = host(t);
  it.write('/sys/fs/selinux/enforce', '1');
  it.write(
    `${DISK}/etc/selinux/config`,
    '# SELINUXTYPE=mls\nSELINUX=enforcing\nSELINUXTYPE=default\n',
  );
  it.programs.give('setfiles', `tr '\\0' '\\n' > "$ROOT/labelled"`);
  await it.run(stage);
  // As after a power cut: the folders of the attempt before are there.
  await it.run(stage);
  await it.run(onDisk);
  const disk = it.at(DISK);
  const contexts = `${disk}/etc/selinux/default/contexts/files/file_contexts`;
  t.same(it.programs.calls('setfiles'), [`setfiles -F -0 -r ${disk} -f - ${contexts}`]);
  const labelled = it.read('/labelled').trim().split('\n');
  const below = labelled.map((path) => path.replace(disk, ''));
  for (const path of [
    ...['/etc/kubernetes/pki/ca.key', '/etc/hostname', '/etc/systemd/system'],
    ...['/usr/local/bin/post-reboot', '/etc/kubernetes', '/etc/kubernetes/pki', '/etc/issue.d'],
  ])
    t.ok(below.includes(path), path);
  t.notOk(below.includes('/etc'), 'the image has labelled its own folders');
  t.notOk(
    below.some((path) => path.includes('sno-staged')),
    'after they were moved',
  );
});

t.test('what is staged is read back', async (t) => {
  const it = host(t);
  await it.run(stage);
  const [first] = (await stagedFile(underlying(it.paths)).read())?.files ?? [];
  it.write(`${DISK}${first?.staged}`, 'damaged');
  t.equal(await it.holds(stage), false);
});

t.test('what only Ignition can apply is refused by name, and nothing is written', async (t) => {
  const it = host(t, {
    ...installed,
    kernelArguments: { shouldExist: ['quiet'] },
    storage: { ...installed.storage, luks: [{ name: 'root' }] },
  });
  const before = tree(it);
  await t.rejects(it.run(stage), {
    kind: 'fatal',
    code: 'in-place-unsupported',
    message: /kernelArguments .*storage\.luks /,
  });
  t.same(tree(it), before);
});

t.test('a link on the disk does not lead out of it', async (t) => {
  const it = host(t);
  const { symlinkSync } = await import('node:fs');
  mkdirSync(it.at('/elsewhere'));
  symlinkSync(it.at('/elsewhere'), it.at(`${DISK}/etc/kubernetes`));
  await t.rejects(it.run(stage), { kind: 'fatal', code: 'in-place-unsupported' });
  t.same(readdirSync(it.at('/elsewhere')), []);
});

t.test('killed or without power at any moment', async (t) => {
  const whole = async (it: TestHost) => {
    await it.run(stage);
    await it.run(onDisk);
  };
  await killedAtAnyMoment(t, {
    prepare: () => host(t),
    run: whole,
    // The next boot sees the disk itself; it bootstraps again, or goes on with the disk.
    async again(it) {
      const booted = hostPaths(it.at(DISK));
      const then = await inPlaceStage(booted);
      if (then === 'bootstrap') return whole(it);
      if (then === 'continue') {
        const context = { ...it.context, paths: booted };
        await commit(({ paths }) => paths).run(context, it.progress());
      }
    },
    async allowed(it, when) {
      const disk = underlying(it.paths);
      const staged = await stagedFile(disk).read();
      const isBegun = it.has(`${DISK}/etc/systemd/system/kubelet.service`);
      if (isBegun) t.equal(staged?.state, 'committing', when);
    },
    result: tree,
    least: 30,
  });
});

t.test('the installed host forgets the bundle and its key', async (t) => {
  const it = testHost(t);
  it.programs.give('systemctl', 'exit 0');
  const key = 'AGE-SECRET-KEY-1QQQ';
  it.write(`${FOLDER}/in-place.json`, key, 0o600);
  it.write(`${FOLDER}/bundle.age`, 'ciphertext', 0o600);
  it.write(`${FOLDER}/journal.jsonl`, '');
  for (const unit of ['sno-in-place.service', 'sno-executable.service', 'run-media-iso.mount'])
    it.write(`/etc/systemd/system/${unit}`, '');
  for (const name of ['executable.curl', 'executable.sha256'])
    it.write(`/etc/sno-agents/${name}`, '');
  for (const name of ['bootkube', 'progress', 'sno-agents']) it.write(`/usr/local/bin/${name}`, '');
  const context = { paths: it.paths };
  t.equal(await forget.holds(context, it.progress()), false);
  await forget.run(context, it.progress());
  t.equal(await forget.holds(context, it.progress()), true);
  t.same(readdirSync(it.at('/etc/systemd/system')), []);
  t.same(
    readdirSync(it.at('/etc/sno-agents')),
    ['executable.sha256'],
    'it is checked at each boot',
  );
  t.same(readdirSync(it.at('/usr/local/bin')), ['progress', 'sno-agents']);
  await forget.run(context, it.progress());
});

t.test('what is to be done is seen on the disk', async (t) => {
  const it = testHost(t);
  const { clusterId } = it.context.cluster;
  const config = {
    ...{ apiVersion: 'sno-agents/v1', clusterId, name: 'edge', baseDomain: 'example.test' },
    bundle: { url: 'http://a.test/b', sha256: 'a'.repeat(64), key: 'AGE-SECRET-KEY-1Q' },
  };
  const write = (at: string, value: object) => it.write(at, JSON.stringify(value), 0o600);
  write(`${FOLDER}/in-place.json`, config);
  t.equal(await inPlaceStage(it.paths), 'bootstrap', 'the first boot');
  const marker = { clusterId, cluster: 'edge.example.test', at: '2030-01-01T00:00:00Z' };
  write('/var/lib/sno-agents/installation.json', { ...marker, state: 'writing' });
  const lists = { files: [], links: [], folders: [], enabled: [], disabled: [] };
  write(`${FOLDER}/staged.json`, { clusterId, state: 'staging', ...lists });
  t.equal(await inPlaceStage(it.paths), 'bootstrap', 'what is staged counts for nothing');
  write(`${FOLDER}/staged.json`, { clusterId, state: 'committing', ...lists });
  t.equal(await inPlaceStage(it.paths), 'continue');
  write('/var/lib/sno-agents/installation.json', { ...marker, state: 'finished' });
  t.equal(await inPlaceStage(it.paths), 'forget', 'the same user data on a finished disk, too');
  write(`${FOLDER}/in-place.json`, {
    ...config,
    clusterId: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ac',
  });
  t.not(await inPlaceStage(it.paths), 'forget', 'another cluster is to be refused');
  it.remove(`${FOLDER}/in-place.json`);
  t.equal(await inPlaceStage(it.paths), 'forget', 'a killed run goes on');
});

t.test('a disk that was completed in this boot needs another one', async (t) => {
  const { it, host } = bootingHost(t, { bytes: Buffer.from(''), key: 'AGE-SECRET-KEY-1Q' });
  const marked = (at: string) =>
    it.write(
      '/var/lib/sno-agents/installation.json',
      JSON.stringify({ clusterId: host.cluster.clusterId, cluster: 'a', state: 'finished', at }),
    );
  marked('2030-01-01T00:00:01Z');
  t.equal(await restartInstalled.holds(host, it.progress()), false);
  t.match(await restartInstalled.run(host, it.progress()), { kind: 'reboot' });
  marked('2029-12-31T23:59:59Z');
  t.equal(await restartInstalled.holds(host, it.progress()), true, 'it has had it');
});
