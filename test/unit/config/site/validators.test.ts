import t from 'tap';
import type { Problem } from '../../../../lib/base/errors/problem.ts';
import { printable } from '../../../../lib/base/printable.ts';
import {
  isPartitionLabel,
  kernelArgumentProblem,
} from '../../../../lib/config/site/boot-arguments.ts';
import { diskPathProblem } from '../../../../lib/config/site/disk.ts';
import { machineConfigServerProblem } from '../../../../lib/config/site/machine-config-server.ts';
import { mergeMirrors } from '../../../../lib/config/site/mirrors.ts';
import {
  isBaseDomain,
  isClusterName,
  isNtpSource,
  isUsableHostname,
  repeatedNameNotices,
} from '../../../../lib/config/site/names.ts';
import { cidrProblem } from '../../../../lib/config/site/networks.ts';
import { completeNoProxy } from '../../../../lib/config/site/proxy.ts';
import { trustBundleProblem } from '../../../../lib/config/site/trust-bundle.ts';
import { parseCpuSet } from '../../../../lib/host/cpu-set.ts';
import { SITE_CA } from '../../cli/certificates.ts';

const labels = (length: number) =>
  'a.'
    .repeat(length)
    .slice(0, length - 1)
    .concat('a');

interface Table {
  isValid: (text: string) => boolean;
  good: readonly string[];
  bad: readonly string[];
}

const finds = (problem: (text: string) => Problem | undefined) => (text: string) =>
  problem(text) === undefined;

const TABLES: Readonly<Record<string, Table>> = {
  'CPU lists': {
    isValid: (list) => parseCpuSet(list) !== undefined,
    good: ['0', '0-1', '0,4', '0-1,4-7,9', '3-3', '1023'],
    bad: [
      '',
      ' 0',
      '0-',
      '-1',
      '1-0',
      '0,',
      ',0',
      '0--1',
      '0 1',
      '0-1-2',
      'a',
      '0x1',
      '10000',
      '0\n',
    ],
  },
  'cluster names': {
    isValid: isClusterName,
    good: ['a', '1', 'sno-1', 'a'.repeat(54)],
    bad: ['', 'a'.repeat(55), 'a'.repeat(63), 'a.b', 'A', '-a', 'a-', 'a_b', 'a\n'],
  },
  'base domains': {
    isValid: isBaseDomain,
    good: ['example.com', 'example.com.', 'local', labels(167), `${labels(167)}.`],
    bad: [
      '',
      '.',
      'example.com..',
      '.example.com',
      labels(168),
      `${'a'.repeat(64)}.com`,
      'a..b',
      'A.b',
    ],
  },
  'host names': {
    isValid: isUsableHostname,
    good: ['sno1', 'sno1.example.com', labels(63), 'localhosts', '7.example.com', '7a'],
    bad: [
      '',
      labels(64),
      'a'.repeat(64),
      'localhost',
      'localhost.a',
      'a.',
      'a b',
      '7',
      '1.2',
      'a.0x1',
    ],
  },
  'sources of time': {
    isValid: isNtpSource,
    good: ['ntp.example.com', 'NTP1.Example.COM', '192.168.7.1', 'fd00::1'],
    bad: ['', 'ntp.example.com:123', '192.168.7', '256.1.1.1', 'a b', '-a', 'a\n'],
  },
  networks: {
    isValid: finds(cidrProblem),
    good: [
      '10.0.0.0/8',
      '192.168.7.0/24',
      '169.253.0.0/16',
      '223.255.255.0/24',
      'fd00::/64',
      'fec0::/64',
    ],
    bad: [
      ...['169.254.0.0/16', '169.254.7.0/24', '169.254.128.0/17'],
      ...['224.0.0.0/4', '224.0.1.0/24', '239.255.0.0/16', '192.0.0.0/2'],
      ...[
        '0.0.0.0/8',
        '127.0.0.0/8',
        'fe80::/64',
        'ff02::/64',
        '10.0.0.1/8',
        '010.0.0.0/8',
        '10/8',
      ],
    ],
  },
  disks: {
    isValid: finds(diskPathProblem),
    good: [
      ...['/dev/sda', '/dev/vdb', '/dev/nvme0n1', '/dev/mmcblk0', '/dev/md127', '/dev/dm-0'],
      ...[
        '/dev/disk/by-id/wwn-0x1',
        '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
        '/dev/mapper/mpatha',
      ],
      ...['/dev/vg/root', '/dev/block/8:0', '/dev/nullblk', '/dev/loop0'],
    ],
    bad: [
      ...[
        '/dev/null',
        '/dev/zero',
        '/dev/full',
        '/dev/random',
        '/dev/urandom',
        '/dev/mem',
        '/dev/tty',
      ],
      ...[
        '/dev/tty1',
        '/dev/console',
        '/dev/stdin',
        '/dev/fd/0',
        '/dev/pts/1',
        '/dev/shm/disk',
        '/dev/sr0',
      ],
      ...[
        '/dev/cdrom',
        '/dev/nvme0',
        '/dev/loop-control',
        '/dev/mapper',
        '/dev/mapper/control',
        '/dev/disk',
      ],
      ...[
        '/dev/disk/by-id',
        '/dev/input/event0',
        '/dev/sg0',
        '/dev/mmcblk0boot0',
        '/dev/mmcblk0rpmb',
      ],
      ...[
        '/dev/sda1',
        '/dev/pmem0p1',
        '/dev/cciss/c0d0p2',
        '/dev/disk/by-id/dm-uuid-part1-mpath-3600a0b80000',
        '/dev',
        '/dev/',
        '/dev//sda',
        '/dev/./sda',
        'sda',
        '/etc/passwd',
        '/dev/sd a',
      ],
    ],
  },
  'kernel arguments': {
    isValid: finds(kernelArgumentProblem),
    good: ['console=ttyS0,115200n8', 'nosmt', 'a'.repeat(256)],
    bad: ['', 'a b', '"a"', 'a\u0007', 'a'.repeat(257), 'root=/dev/sda', 'fips=1', 'ignition.x'],
  },
  'partition labels': {
    isValid: isPartitionLabel,
    good: ['data*', 'my data', 'Daten ü', 'a'.repeat(36)],
    bad: ['', ' ', 'a,b', 'a'.repeat(37), 'a\u001b[31m', 'a\u202eb', 'a\u2028b'],
  },
  'trust bundles': {
    isValid: finds(trustBundleProblem),
    good: ['', '\n', SITE_CA, `# ours\n${SITE_CA}\n${SITE_CA}`],
    bad: ['none', SITE_CA.slice(0, -10), SITE_CA.replace('MIIB', 'MIIC')],
  },
  'URLs of a machine config server': {
    isValid: finds(machineConfigServerProblem),
    good: [
      'https://api-int.example.com:22623/config/master',
      'https://[fd00::1]:22623/config/master?a=b',
    ],
    bad: [
      ...[
        '',
        'http://a/config/master',
        'ftp://a',
        'a',
        'https://',
        'https://a:99999/',
        'https://a/#b',
      ],
      ...[
        'https://me:hunter2@a/',
        'https://me@a/',
        'https://@a/',
        'https://a/ b',
        'https://a/\u001b[31m',
      ],
    ],
  },
};

const name = (text: string) => printable(JSON.stringify(text));

t.test('a name that is there twice in the domain is a notice', async (t) => {
  t.match(repeatedNameNotices('sno', 'sno.example.com.'), [/is sno\.sno\.example\.com: its name/]);
  for (const domain of ['example.com', 'snow.example.com', 'a.sno.example.com']) {
    t.strictSame(repeatedNameNotices('sno', domain), [], domain);
  }
});

t.test('neither the path of a bundle is one, nor what has lost its lines', async (t) => {
  t.match(trustBundleProblem('our CA'), { found: 'none' });
  t.match(trustBundleProblem('certificates/ca.pem'), { found: 'the path of a file' });
  t.match(trustBundleProblem(SITE_CA.replaceAll('\n', ' ')), {
    found: /^PEM in one line/,
    fix: /"\|"/,
  });
  t.match(trustBundleProblem(SITE_CA.replaceAll('\n', '\\n')), { found: /^\\n as two/ });
  t.match(trustBundleProblem('/etc/pki/ca.crt\n'), { found: 'the path of a file' });
});

for (const [table, { isValid, good, bad }] of Object.entries(TABLES)) {
  t.test(table, async (t) => {
    for (const text of good) t.ok(isValid(text), `${name(text)} is accepted`);
    for (const text of bad) t.notOk(isValid(text), `${name(text)} is refused`);
  });
}

t.test('a refused secret is not shown', async (t) => {
  const urls = ['https://me:hunter2@a/', 'http://me:hunter2@a/', 'hunter2 hunter2'];
  for (const url of urls) t.notMatch(JSON.stringify(machineConfigServerProblem(url)), 'hunter2');
});

const mirror = (source: string, mirrors: string[], neverContactSource: boolean) => ({
  source,
  mirrors,
  digestOnly: true,
  neverContactSource,
});

t.test('entries of one source are merged; if one blocks the source, it is blocked', async (t) => {
  for (const [first, second] of [
    [true, false],
    [false, true],
  ] as const) {
    t.same(
      mergeMirrors([
        mirror('quay.io/a', ['m1', 'm2'], first),
        mirror('quay.io/b', ['m4'], false),
        mirror('quay.io/a', ['m2', 'm3'], second),
      ]),
      [mirror('quay.io/a', ['m1', 'm2', 'm3'], true), mirror('quay.io/b', ['m4'], false)],
    );
  }
  const open = [mirror('a', ['m1'], false), mirror('a', ['m2'], false)];
  t.same(mergeMirrors(open), [mirror('a', ['m1', 'm2'], false)]);
});

t.test('mirrors for digests and mirrors for tags of one source stay apart', async (t) => {
  const digest = mirror('quay.io/a', ['d1'], false);
  const tag = { ...mirror('quay.io/a', ['t1'], true), digestOnly: false };
  t.same(mergeMirrors([digest, tag]), [digest, tag]);
  t.same(mergeMirrors([tag, digest]), [digest, tag]);
  const more = [
    { ...digest, mirrors: ['d2'] },
    { ...tag, mirrors: ['t2'] },
  ];
  t.same(mergeMirrors([digest, tag, ...more]), [
    { ...digest, mirrors: ['d1', 'd2'] },
    { ...tag, mirrors: ['t1', 't2'] },
  ]);
});

t.test('a source below one with mirrors of the other kind has these too', async (t) => {
  const above = mirror('quay.io', ['d.example.com/quay'], true);
  const nearer = mirror('quay.io/a', ['d.example.com/near'], false);
  const tag = { ...mirror('quay.io/a/b', ['t.example.com/b'], false), digestOnly: false };
  t.same(mergeMirrors([above, tag]), [
    above,
    mirror('quay.io/a/b', ['d.example.com/quay/a/b'], true),
    tag,
  ]);
  t.same(
    mergeMirrors([above, nearer, tag]),
    [above, nearer, mirror('quay.io/a/b', ['d.example.com/near/b'], false), tag],
    'the longest',
  );
  const beside = { ...tag, source: 'quay.io.example.com' };
  t.same(mergeMirrors([above, beside]), [above, beside]);
  t.same(
    mergeMirrors([nearer, { ...tag, source: 'quay.io' }]).map(({ source, digestOnly, mirrors }) => [
      source,
      digestOnly,
      mirrors,
    ]),
    [
      ['quay.io/a', true, ['d.example.com/near']],
      ['quay.io', false, ['t.example.com/b']],
      ['quay.io/a', false, ['t.example.com/b/a']],
    ],
  );
});

t.test('an absolute name is passed to the host as Go programs match it', async (t) => {
  const cluster = {
    name: 'sno',
    baseDomain: 'example.com',
    machineNetwork: ['10.0.0.0/16'],
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    serviceNetwork: ['172.30.0.0/16'],
  };
  const names = completeNoProxy('a.com.,.b.com.', cluster);
  t.ok(names.includes('a.com') && names.includes('.b.com'));
  t.notOk(names.some((name) => name.endsWith('.')));
});
