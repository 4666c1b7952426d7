import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { inspectAgain, inspectTarget } from '../../../lib/cluster/installation/inspect.ts';
import type { InstallableCluster } from '../../../lib/config/cluster/cluster.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { kernelTree } from '../../unit/disk/kernel-tree.ts';

const OURS = '7b9e7a54-3d0c-4e3f-9a43-1f2f0f1f6c11';
const signal = AbortSignal.timeout(120_000);
const MARKER = 'root/ostree/deploy/os/var/lib/sno-agents/installation.json';

interface Disk {
  /** Files of the partitions `boot` and `root`, by partition and path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly partitions?: readonly string[];
  readonly kernel?: Parameters<typeof kernelTree>[1];
  readonly saved?: readonly string[];
  /** Labels of partitions without a recognized file system. */
  readonly bare?: readonly string[];
}

/** A host whose disk, and the programs that read it, are files of the test. */
async function host(
  t: Test,
  { files = {}, partitions = ['boot', 'root'], kernel, saved = [], bare = [] }: Disk,
) {
  const folder = t.testdir({ programs: {}, host: {}, calls: '' });
  const disk = join(folder, 'vda');
  writeFileSync(disk, '');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const device = (path: string, label: string | null) => ({
    path,
    kname: path.split('/').at(-1),
    type: label === null ? 'disk' : 'part',
    size: 1e9,
    label,
    fstype: label === null || bare.includes(label) ? null : label === 'root' ? 'xfs' : 'ext4',
    pttype: 'gpt',
    partlabel: label,
    parttype: null,
    partuuid: null,
  });
  const blockdevices = [
    device(disk, null),
    ...partitions.map((label) => device(join(folder, label), label)),
  ];
  const program = (name: string, body: string) => {
    const path = join(folder, 'programs', name);
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${folder}/calls\n${body}\n`);
    chmodSync(path, 0o755);
  };
  program('udevadm', '');
  program('lsblk', `cat <<'END'\n${JSON.stringify({ blockdevices })}\nEND`);
  program('blkid', 'echo PTTYPE=gpt');
  program('mount', 'if [ -d "$3" ]; then cp -r "$3/." "$4"; fi');
  program('umount', 'rm -rf "$1"/*');
  const before = process.env.PATH;
  process.env.PATH = `${join(folder, 'programs')}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const paths = kernelTree(join(folder, 'host'), kernel ?? { devices: { vda: { number: '8:0' } } });
  mkdirSync(dirname(paths.at(disk)), { recursive: true });
  writeFileSync(paths.at(disk), '');
  for (const label of bare) writeFileSync(paths.at(join(folder, label)), '');
  const cluster: InstallableCluster = {
    apiVersion: 'sno-agents/v1',
    clusterId: OURS,
    controlPlane: 'kubernetes',
    name: 'sno',
    baseDomain: 'example.com',
    machineNetwork: ['10.0.0.0/24'],
    clusterNetwork: [],
    serviceNetwork: [],
    installation: {
      disk,
      coreosInstallerArgs: [],
      kernelArguments: [],
      savePartitions: { labels: [...saved], indexes: [] },
      existingSystem: 'overwrite',
    },
    executableSha256: '',
    sshKeys: [],
    imageMirrors: [],
    additionalNtpSources: [],
    preflightWarnings: [],
  };
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
  return { folder, disk, cluster, paths, calls };
}

const marker = (state: string) =>
  JSON.stringify({ clusterId: OURS, cluster: 'sno.example.com', state, at: '2030-01-01' });

t.test('the disk is inspected without being changed', async (t) => {
  const files = { [MARKER]: marker('finished'), 'boot/ignition/config.ign': `{"id":"${OURS}"}` };
  const { cluster, paths, calls, folder } = await host(t, { files });
  t.strictSame(await inspectTarget(cluster, paths, signal), { kind: 'finished', at: '2030-01-01' });
  const mounts = calls().filter((call) => call.startsWith('mount '));
  t.equal(mounts.length, 2);
  t.match(mounts[0], `mount -o ro,norecovery,nosuid,nodev,noexec ${folder}/root `);
  t.match(mounts[1], `mount -o ro,noload,nosuid,nodev,noexec ${folder}/boot `);
  t.equal(calls().filter((call) => call.startsWith('umount ')).length, 2);
  t.ok(
    calls().indexOf('udevadm settle --timeout=20') <
      calls().findIndex((call) => call.startsWith('lsblk')),
  );
});

t.test('an unfinished installation is recognized by its marker or its Ignition', async (t) => {
  const begun: Record<string, string>[] = [
    { [MARKER]: marker('writing') },
    { 'boot/ignition/config.ign': `{"id":"${OURS}"}` },
  ];
  for (const files of begun) {
    await t.test(Object.keys(files).join(), async (t) => {
      const { cluster, paths } = await host(t, { files });
      t.strictSame(await inspectTarget(cluster, paths, signal), { kind: 'half-finished' });
    });
  }
});

t.test('a disk in use is refused before it is inspected', async (t) => {
  const mountinfo = '31 1 8:0 / /srv rw - xfs /dev/vda rw\n';
  const kernel = { devices: { vda: { number: '8:0' } }, mountinfo };
  const { cluster, paths, calls, disk } = await host(t, { kernel });
  t.match(await thrownBy(inspectTarget(cluster, paths, signal)), {
    kind: 'fatal',
    code: 'disk-in-use',
    message: new RegExp(`${disk} is in use.*/srv`),
  });
  t.notOk(calls().some((call) => /^(lsblk|mount)/.test(call)));
});

t.test('a device that is not a block device for the kernel is refused', async (t) => {
  const { cluster, paths } = await host(t, { kernel: { devices: {} } });
  t.match(await thrownBy(inspectTarget(cluster, paths, signal)), {
    kind: 'fatal',
    code: 'disk-unsuitable',
  });
});

t.test('partitions to keep must exist, unless the installation is finished', async (t) => {
  const { cluster, paths } = await host(t, { saved: ['data'] });
  t.match(await thrownBy(inspectTarget(cluster, paths, signal)), {
    kind: 'fatal',
    code: 'disk-kept-partitions',
    details: { expected: 'a partition for label data' },
  });
  await t.test('there', async (t) => {
    const { cluster, paths } = await host(t, { saved: ['data'], partitions: ['data'] });
    t.strictSame(await inspectTarget(cluster, paths, signal), {
      kind: 'only-kept',
      partitions: 'data',
    });
  });
  await t.test('finished', async (t) => {
    const { cluster, paths } = await host(t, {
      saved: ['data'],
      files: { [MARKER]: marker('finished') },
    });
    t.match(await inspectTarget(cluster, paths, signal), { kind: 'finished' });
  });
});

t.test('the last check refuses a finished installation, and nothing else', async (t) => {
  const { cluster, paths } = await host(t, { files: { [MARKER]: marker('finished') } });
  t.match(await thrownBy(inspectAgain(cluster, paths, signal)), {
    kind: 'fatal',
    code: 'disk-installed',
    details: { found: 'completed at 2030-01-01' },
  });
  for (const files of [{}, { [MARKER]: marker('writing') }]) {
    await t.test(Object.keys(files).join() || 'another system', async (t) => {
      const { cluster, paths } = await host(t, { files });
      await t.resolves(inspectAgain(cluster, paths, signal));
    });
  }
});

t.test('partitions that cannot be mounted are skipped; read errors are reported', async (t) => {
  const files = { [MARKER]: marker('finished') };
  const { cluster, paths, calls } = await host(t, { files, bare: ['root'] });
  t.match(await inspectTarget(cluster, paths, signal), { kind: 'other-system' });
  t.notOk(calls().some((call) => /^mount .*\/root /.test(call)));
  await t.test('the Ignition is a folder', async (t) => {
    const { cluster, paths } = await host(t, { files: { 'boot/ignition/config.ign/x': '' } });
    await t.rejects(inspectTarget(cluster, paths, signal), { code: 'EISDIR' });
  });
});

t.test('an unreadable disk is not reported as empty', async (t) => {
  const { folder, cluster, paths } = await host(t, { partitions: [] });
  const path = join(folder, 'programs/blkid');
  writeFileSync(path, '#!/bin/sh\nexit 2\n');
  t.strictSame(await inspectTarget(cluster, paths, signal), {
    kind: 'other-system',
    what: 'a gpt partition table',
  });
  writeFileSync(path, '#!/bin/sh\necho "I/O error" >&2\nexit 4\n');
  t.match(await thrownBy(inspectTarget(cluster, paths, signal)), {
    kind: 'retry',
    details: { found: /exit code 4.*I\/O error/ },
  });
});
