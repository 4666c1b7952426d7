import { json, M, type RuleCase } from './rule-case.ts';

const df = (target: string, share: number, more: object = {}) => ({
  target,
  source: '/dev/vda4',
  type: 'xfs',
  sizeBytes: 100_000_000_000,
  availableBytes: Math.round(100_000_000_000 * share),
  files: 1000,
  filesFree: 900,
  ...more,
});
const disks = (...list: object[]) => ({ [`${M}/disks/df.json`]: json(list) });

const kernelOf = (day: string, ...lines: string[]) => ({
  [`${M}/journals/kernel.log`]: lines
    .map((line) => `${day}T15:10:00.123456+0000 kernel: ${line}\n`)
    .join(''),
});
const kernel = (...lines: string[]) => kernelOf('2026-11-21', ...lines);
const meminfo = (total: number, available: number) => ({
  [`${M}/proc/meminfo.txt`]: `MemTotal:       ${total} kB\nMemFree:         1 kB\nMemAvailable:   ${available} kB\n`,
});
const BOUNDS = ['0.001', '0.002', '0.004', '0.008', '0.016', '0.032', '0.064', '+Inf'];
const histogram = (name: string, ...counts: number[]) =>
  counts.map((count, index) => `${name}_bucket{le="${BOUNDS[index]}"} ${count}\n`).join('');
const WAL = 'etcd_disk_wal_fsync_duration_seconds';

export const diskCases: readonly RuleCase[] = [
  {
    rule: 'disk-full',
    of: '/var without a free byte',
    files: {
      ...disks(df('/', 0.5), df('/var', 0)),
      [`${M}/journals/containerd.log`]:
        '2026-11-21T15:01:00.000000+0000 containerd[9]: write /var/x: no space left on device\n',
    },
    finds: [
      {
        severity: 'failing',
        title: /file system of \/var is full: 0 bytes of 93 GiB/,
        at: `${M}/disks/df.json:12`,
      },
    ],
  },
  {
    rule: 'disk-full',
    of: 'no inode left, and 8 % of the bytes',
    files: disks(df('/var', 0.08, { filesFree: 0 })),
    finds: [{ severity: 'failing', title: /0 of 1000 inodes are free/ }],
  },
  {
    rule: 'disk-full',
    of: 'a host below the limit of eviction',
    files: disks(df('/', 0.08)),
    finds: [{ severity: 'warning', title: /nearly full, and the kubelet evicts pods: 7.5 GiB/ }],
  },
  {
    rule: 'disk-full',
    of: 'the root of an ostree system, which df calls /sysroot',
    files: disks(df('/sysroot', 0, { writes: ['/var/lib/kubelet', '/var/log'] }), df('/boot', 0.5)),
    finds: [
      {
        severity: 'failing',
        title: /file system of \/sysroot, with \/var\/lib\/kubelet is full: 0 bytes/,
        todo: /du -xh --max-depth=3 \/var /,
      },
    ],
  },
  {
    rule: 'disk-full',
    of: 'the same below the limit of eviction, and a place that nobody writes to',
    files: disks(
      df('/sysroot', 0.08, { writes: ['/var/lib/kubelet'] }),
      df('/var/lib/kubelet/old', 0.08, { writes: [] }),
    ),
    finds: [{ severity: 'warning', title: /\/sysroot, with .* is nearly full, and the kubelet/ }],
  },
  {
    rule: 'disk-full',
    of: 'full media and images, a /boot that nobody fills, btrfs without inodes',
    files: disks(
      df('/', 0.5, { type: 'btrfs', files: 0, filesFree: 0 }),
      df('/run/media/iso', 0, { type: 'iso9660', filesFree: 0, files: 0 }),
      df('/sysroot/x', 0, { source: 'composefs', type: 'overlay' }),
      df('/boot', 0.05),
    ),
  },
  {
    rule: 'memory-pressure',
    of: '60 MiB left',
    files: meminfo(16_000_000, 61_440),
    finds: [
      {
        severity: 'failing',
        title: /60 MiB of 15 GiB memory are available/,
        at: `${M}/proc/meminfo.txt:3`,
      },
    ],
  },
  {
    rule: 'memory-pressure',
    of: 'a killed process, and a container at its own limit',
    files: kernel(
      'Out of memory: Killed process 4242 (etcd) total-vm:1kB',
      'Memory cgroup out of memory: Killed process 99 (java) total-vm:1kB',
    ),
    finds: [{ severity: 'failing', title: /killed 2 processes for lack of memory \(etcd, java\)/ }],
  },
  {
    rule: 'memory-pressure',
    of: 'stalls',
    files: {
      [`${M}/proc/pressure/memory.txt`]:
        'some avg10=40.0 avg60=31.0 avg300=9 total=1\nfull avg10=30.00 avg60=22.10 avg300=9.0 total=1\n',
    },
    finds: [{ severity: 'warning', title: /22.1 % of the last minute/ }],
  },
  {
    rule: 'memory-pressure',
    of: 'enough memory',
    files: { ...meminfo(16_000_000, 9_000_000), ...kernel('oom_control is deprecated') },
  },
  {
    rule: 'disk-io-errors',
    of: 'a failing disk',
    files: kernel(
      'blk_update_request: I/O error, dev sda, sector 2048 op 0x0:(READ)',
      'EXT4-fs error (device sda4): ext4_find_entry:1455',
    ),
    finds: [
      { severity: 'failing', title: /2 errors of sda, sda4/, todo: /smartctl -a \/dev\/sda"/ },
    ],
  },
  {
    rule: 'disk-io-errors',
    of: 'an empty optical drive and ordinary mounts',
    files: kernel(
      'I/O error, dev sr0, sector 0 op 0x0:(READ)',
      'EXT4-fs (loop0p3): mounted filesystem ro without journal.',
    ),
  },
  {
    rule: 'disk-io-errors',
    of: 'a stick that was taken out two days ago',
    files: kernelOf('2026-11-19', 'I/O error, dev sdb, sector 2048 op 0x0:(READ)'),
    finds: [{ severity: 'warning', title: /1 error of sdb/ }],
  },
  {
    rule: 'disk-io-errors',
    of: 'a controller that answered again two days ago',
    files: kernelOf('2026-11-19', 'nvme0: I/O 5 QID 3 timeout, aborting'),
    finds: [{ severity: 'warning', title: /1 error of nvme0/ }],
  },
  ...(
    [
      [
        'said by a clock that was ahead',
        '2026-11-25',
        'I/O error, dev sda, sector 2048 op 0x0:(READ)',
      ],
      [
        'a surface that could not be read',
        '2026-11-19',
        'critical medium error, dev sda, sector 2048',
      ],
      ['XFS that has shut down', '2026-11-19', 'XFS (sda4): log I/O error -5'],
      [
        'buffers of a device, said by a clock that was ahead',
        '2026-11-25',
        'Buffer I/O error on dev sda1, logical block 0',
      ],
    ] as const
  ).map(([of, day, text]) => ({
    ...{ rule: 'disk-io-errors', of, files: kernelOf(day, text) },
    finds: [{ severity: 'failing' as const, title: /1 error of sda/ }],
  })),
  {
    rule: 'disk-io-errors',
    of: 'a file system that is read-only since then',
    files: kernelOf(
      '2026-11-19',
      'EXT4-fs error (device sda4): ext4_find_entry:1455',
      'EXT4-fs (sda4): Remounting filesystem read-only',
    ),
    finds: [{ severity: 'failing', title: /2 errors of sda4/ }],
  },
  {
    rule: 'disk-slow',
    of: 'a 99th percentile between 16 and 32 ms',
    files: { [`${M}/etcd/metrics.txt`]: histogram(WAL, 100, 300, 600, 900, 970, 1000, 1000, 1000) },
    finds: [
      {
        severity: 'warning',
        title: /a WAL sync takes longer than 27 ms/,
        at: `${M}/etcd/metrics.txt:6`,
      },
    ],
  },
  {
    rule: 'disk-slow',
    of: 'syncs that etcd complains about',
    files: {
      [`${M}/containers/tails/etcd-12ab.log`]:
        '2026-11-21T15:10:00.1Z stderr F {"level":"warn","msg":"slow fdatasync","took":"1.4s"}\n'.repeat(
          3,
        ),
    },
    finds: [{ severity: 'warning', title: /3 syncs took more than a second/ }],
  },
  {
    rule: 'disk-slow',
    of: 'syncs that took long two days ago, and one since',
    files: {
      [`${M}/containers/tails/etcd-12ab.log`]: ['19', '19', '19', '21']
        .map((day) => `2026-11-${day}T15:10:00.1Z stderr F {"msg":"slow fdatasync"}\n`)
        .join(''),
    },
  },
  {
    rule: 'disk-slow',
    of: 'a fast disk, and too few samples of another metric',
    files: {
      [`${M}/etcd/metrics.txt`]:
        histogram(WAL, 900, 990, 995, 999, 1000, 1000, 1000, 1000) +
        histogram('etcd_disk_backend_commit_duration_seconds', 0, 0, 0, 0, 0, 0, 9, 9),
    },
  },
];
