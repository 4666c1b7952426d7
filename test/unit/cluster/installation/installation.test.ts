import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import {
  type DiskFinding,
  judgeDisk,
  requireWritable,
} from '../../../../lib/cluster/installation/inspect.ts';
import { ledgerPath, readLedger } from '../../../../lib/cluster/installation/ledger.ts';
import { readMarker, writeMarker } from '../../../../lib/cluster/installation/marker.ts';
import { readSnapshotRecord } from '../../../../lib/cluster/installation/snapshot-record.ts';
import type { InstallableCluster } from '../../../../lib/config/cluster/cluster.ts';
import type { Partition } from '../../../../lib/host/disk.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

const ours = '7b9e7a54-3d0c-4e3f-9a43-1f2f0f1f6c11';
const theirs = '11111111-3d0c-4e3f-9a43-1f2f0f1f6c11';
const partition = (label: string | null, fstype: string | null = 'ext4'): Partition => ({
  path: '/dev/vda1',
  kname: 'vda1',
  type: 'part',
  size: 1,
  label,
  fstype,
  pttype: 'gpt',
  partlabel: null,
  parttype: null,
  partuuid: null,
});
const empty = { fstype: null, pttype: null };
const coreos = {
  fstype: null,
  pttype: 'gpt',
  children: [partition('boot'), partition('root', 'xfs'), partition(null, null)],
};
const marker = (clusterId: string, state: 'writing' | 'finished') => ({
  clusterId,
  cluster: 'sno.example.com',
  state,
  at: '2026-01-01T00:00:00Z',
});

t.test('the contents of the disk', async (t) => {
  const finished = { kind: 'finished', at: '2026-01-01T00:00:00Z' };
  const half = { kind: 'half-finished' };
  const other = (what: string) => ({ kind: 'other-system', what });
  type Read = Parameters<typeof judgeDisk>;
  const table: [string, Read[0], Read[2], Read[3], object][] = [
    ['nothing', empty, undefined, undefined, { kind: 'empty' }],
    [
      'an empty list of partitions',
      { ...empty, children: [] },
      undefined,
      undefined,
      { kind: 'empty' },
    ],
    ['our finished installation', coreos, marker(ours, 'finished'), ours, finished],
    ['finished, its Ignition removed since', coreos, marker(ours, 'finished'), undefined, finished],
    ['ours, being written', coreos, marker(ours, 'writing'), undefined, half],
    ['our Ignition without a marker', coreos, undefined, `{"id":"${ours}"}`, half],
    ['our Ignition over their marker', coreos, marker(theirs, 'finished'), ours, half],
    [
      'their finished installation',
      coreos,
      marker(theirs, 'finished'),
      theirs,
      other('the cluster sno.example.com'),
    ],
    [
      'their half installation',
      coreos,
      marker(theirs, 'writing'),
      undefined,
      other('the cluster sno.example.com'),
    ],
    ['partitions', coreos, undefined, undefined, other('partitions boot, root, unnamed')],
    [
      'partitions without labels',
      { ...coreos, children: [partition(null, 'ntfs')] },
      undefined,
      theirs,
      other('partitions ntfs'),
    ],
    [
      'a file system on the whole disk',
      { fstype: 'xfs', pttype: null },
      undefined,
      undefined,
      other('a xfs file system'),
    ],
    [
      'a bare partition table',
      { fstype: null, pttype: 'dos' },
      undefined,
      undefined,
      other('a dos partition table'),
    ],
  ];
  for (const [name, disk, found, ignition, finding] of table) {
    t.strictSame(judgeDisk(disk, ours, found, ignition), finding, name);
  }
});

const cluster = (existingSystem: 'refuse' | 'overwrite'): InstallableCluster => ({
  apiVersion: 'sno-agents/v1',
  clusterId: ours,
  controlPlane: 'kubernetes',
  name: 'sno',
  baseDomain: 'example.com',
  machineNetwork: ['10.0.0.0/24'],
  clusterNetwork: [],
  serviceNetwork: [],
  installation: {
    disk: '/dev/vda',
    coreosInstallerArgs: [],
    kernelArguments: [],
    savePartitions: { labels: [], indexes: [] },
    existingSystem,
  },
  executableSha256: '',
  sshKeys: [],
  imageMirrors: [],
  additionalNtpSources: [],
  preflightWarnings: [],
});

t.test('which disk may be written', async (t) => {
  const other: DiskFinding = { kind: 'other-system', what: 'partitions ntfs' };
  const finished: DiskFinding = { kind: 'finished', at: '2026-01-01' };
  const table: [DiskFinding, 'refuse' | 'overwrite', string | RegExp][] = [
    [{ kind: 'empty' }, 'refuse', '/dev/vda is empty'],
    [
      { kind: 'only-kept', partitions: 'data' },
      'refuse',
      '/dev/vda contains only partitions to keep: data',
    ],
    [
      { kind: 'half-finished' },
      'refuse',
      '/dev/vda contains an unfinished installation of this cluster, which starts over',
    ],
    [other, 'overwrite', '/dev/vda holds partitions ntfs, which will be overwritten as configured'],
    [
      other,
      'refuse',
      /^\/dev\/vda holds another system; .*found partitions ntfs.*existingSystem to overwrite/,
    ],
    [
      finished,
      'refuse',
      /finished installation of this cluster; found completed at 2026-01-01\. Nothing was changed/,
    ],
    [finished, 'overwrite', /Nothing was changed/],
  ];
  for (const [finding, existing, expected] of table) {
    const name = `${finding.kind}, ${existing}`;
    const ask = () => requireWritable(cluster(existing), finding);
    if (typeof expected === 'string') t.equal(ask(), expected, name);
    else t.throws(ask, { kind: 'fatal', message: expected }, name);
  }
  t.throws(() => requireWritable(cluster('refuse'), other), { code: 'disk-other-system' });
  t.throws(() => requireWritable(cluster('refuse'), finished), { code: 'disk-installed' });
});

t.test('for a finished installation, the time of setting the boot order is reported', async (t) => {
  const found = { ...marker(ours, 'finished'), bootOrderSetAt: '2026-01-02' };
  t.strictSame(judgeDisk(coreos, ours, found, undefined), {
    kind: 'finished',
    at: found.at,
    bootOrderSetAt: '2026-01-02',
  });
  const folder = t.testdir();
  await writeMarker(folder, found);
  t.strictSame(await readMarker(folder), found);
  const file = join(folder, 'lib/sno-agents/installation.json');
  t.equal(statSync(file).mode & 0o777, 0o644);
  for (const field of ['clusterId', 'cluster', 'state', 'at']) {
    writeFileSync(file, JSON.stringify({ ...found, [field]: undefined }));
    t.equal(await readMarker(folder), undefined, `a marker without ${field}`);
  }
});

t.test('the marker of an installation', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'lib/sno-agents/installation.json');
  t.equal(await readMarker(folder), undefined);
  t.equal(await readMarker(join(folder, 'nowhere')), undefined);
  for (const state of ['writing', 'finished'] as const) {
    await writeMarker(folder, marker(ours, state));
    t.strictSame(await readMarker(folder), marker(ours, state));
  }
  const bad = [
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"clusterId":"x"}',
    readFileSync(file, 'utf8').replace('finished', 'maybe'),
  ];
  for (const text of bad) {
    writeFileSync(file, text);
    t.equal(await readMarker(folder), undefined, JSON.stringify(text));
  }
  const blocked = t.testdir({ lib: { 'sno-agents': { 'installation.json': {} } } });
  await t.rejects(readMarker(blocked), { code: 'EISDIR' }, 'unreadable is not absent');
});

t.test('a partition is named by its label, its name in the table, its file system', async (t) => {
  const children = [
    { ...partition('label'), partlabel: 'name' },
    { ...partition(null), partlabel: 'name' },
    partition(null, 'xfs'),
  ];
  t.strictSame(judgeDisk({ ...coreos, children }, ours, undefined, undefined), {
    kind: 'other-system',
    what: 'partitions label, name, xfs',
  });
});

t.test('ledger and snapshot record: absent, valid, damaged', async (t) => {
  const paths = hostPaths(t.testdir());
  const ledger = {
    entries: [
      {
        path: '/etc/x',
        sha256: 'ab',
        why: 'the bootstrap',
        when: 'steady-state',
        unit: 'x.service',
      },
    ],
    goneKeys: ['cd'],
  };
  const record = {
    clusterId: ours,
    sha256: 'ab',
    bytes: 1,
    revision: 2,
    hash: 3,
    compactRevision: 0,
    etcdVersion: '3.6.1',
    hostname: 'node',
    nodeIps: ['10.0.0.1'],
  };
  const cases: [string, () => Promise<unknown>, object][] = [
    [ledgerPath(paths), () => readLedger(paths), ledger],
    [paths.at('/etcd.json'), () => readSnapshotRecord(paths.at('/etcd.json')), record],
  ];
  for (const [path, read, good] of cases) {
    t.notOk(existsSync(path));
    t.equal(await read(), undefined);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(good));
    t.strictSame(await read(), good);
    for (const field of Object.keys(good)) {
      writeFileSync(path, JSON.stringify({ ...good, [field]: undefined }));
      await t.rejects(read(), { kind: 'fatal', message: path }, `without ${field}`);
    }
    for (const text of ['', '{"entries":', '{}', JSON.stringify(good).replace('"ab"', '7')]) {
      writeFileSync(path, text);
      await t.rejects(read(), { kind: 'fatal', message: path }, text);
    }
  }
});
