/** Ignition configs with what is wrong in two places together, or within a text. */
import { HASH, type SpecCase } from './spec-cases.ts';

const disk = (...partitions: readonly object[]) => ({
  disks: [{ device: '/dev/vdb', partitions }],
});
const luks = (more: object) => ({ luks: [{ name: 'l', device: '/dev/vdb1', ...more }] });
const raid = (more: object) => ({ raid: [{ name: 'r', devices: ['/dev/vdb1'], ...more }] });
const filesystem = (more: object) => ({ filesystems: [{ device: '/dev/vdb', ...more }] });
const unit = (more: object) => ({ units: [{ name: 'a.service', ...more }] });
const tang = [{ url: 'http://x.example.com', thumbprint: 'x' }];

/** Two things that are right by themselves, and wrong together or not. */
export const combinedConfigs = (): SpecCase[] =>
  [
    {
      storage: disk(
        { number: 1, startMiB: 1, sizeMiB: 10 },
        { number: 2, startMiB: 11, sizeMiB: 5 },
      ),
    },
    {
      storage: disk(
        { number: 1, startMiB: 1, sizeMiB: 10 },
        { number: 2, startMiB: 10, sizeMiB: 5 },
      ),
    },
    {
      storage: disk(
        { number: 2, startMiB: 5, sizeMiB: 1 },
        { number: 1, startMiB: 1, sizeMiB: 10 },
      ),
    },
    {
      storage: disk({ number: 1, startMiB: 1, sizeMiB: 0 }, { number: 2, startMiB: 5, sizeMiB: 1 }),
    },
    {
      storage: disk({ number: 1, startMiB: 5, sizeMiB: 0 }, { number: 2, startMiB: 1, sizeMiB: 0 }),
    },
    {
      storage: disk({ number: 1, startMiB: 0, sizeMiB: 9 }, { number: 2, startMiB: 0, sizeMiB: 9 }),
    },
    { storage: disk({ number: 1, startMiB: 5 }, { number: 2, startMiB: 5 }) },
    { storage: disk({ label: 'a' }, { label: 'b' }, { number: 0, label: 'c' }) },
    { storage: disk({ label: 'a' }, { number: 1, label: 'a' }) },
    { storage: disk({ label: '' }, { number: 1, label: 'ü'.repeat(18) }) },
    { storage: disk({ label: 'ü'.repeat(19) }) },
    { storage: disk({ number: 1, shouldExist: false }, { number: 2, shouldExist: true }) },
    { storage: disk({ number: 1, shouldExist: false }, { label: 'x' }) },
    { storage: disk({ number: 1, shouldExist: false, label: 'x' }) },
    { storage: disk({ number: 1, shouldExist: false, sizeMiB: 0 }) },
    { storage: disk({ number: 1, shouldExist: false, guid: '' }) },
    { storage: { ...disk({ number: 1 }), ...filesystem({ format: 'xfs', wipeFilesystem: true }) } },
    { storage: { ...disk(), ...filesystem({ format: 'xfs', wipeFilesystem: true }) } },
    { storage: filesystem({}) },
    { storage: filesystem({ path: '/srv' }) },
    { storage: filesystem({ wipeFilesystem: false }) },
    { storage: filesystem({ path: '/', format: 'ext4', label: 'x'.repeat(16) }) },
    { storage: filesystem({ path: '', format: 'ext4', label: 'ü'.repeat(9) }) },
    { storage: raid({ level: 'linear', spares: 1 }) },
    { storage: raid({ level: '0', spares: 1 }) },
    { storage: raid({ level: 'stripe', spares: 0 }) },
    { storage: raid({ level: 'raid5', spares: 1 }) },
    { storage: raid({ level: 'mirror', devices: [] }) },
    { storage: luks({ clevis: { custom: { pin: 'sss', config: '{}' }, tpm2: true } }) },
    { storage: luks({ clevis: { custom: { pin: 'sss', config: '{}' }, tpm2: false, tang: [] } }) },
    { storage: luks({ clevis: { custom: { pin: '', config: '' }, tang } }) },
    { storage: luks({ clevis: { custom: { needsNetwork: true } } }) },
    { storage: luks({ clevis: { custom: {} }, keyFile: {} }) },
    { storage: luks({ cex: { enabled: true }, clevis: { tang } }) },
    { storage: luks({ cex: { enabled: true }, clevis: { threshold: 1 } }) },
    { storage: luks({ cex: { enabled: true }, keyFile: { source: 'data:,x' } }) },
    { storage: luks({ cex: { enabled: false }, keyFile: { source: 'data:,x' } }) },
    { storage: { files: [{ path: '/x', user: { id: 1, name: 'a' } }] } },
    { storage: { files: [{ path: '/x', group: { id: 1, name: '' } }] } },
    { storage: { files: [{ path: '/x', overwrite: true }] } },
    { storage: { files: [{ path: '/x', contents: { verification: { hash: HASH } } }] } },
    { storage: { files: [{ path: '/x', contents: { source: '', httpHeaders: [] } }] } },
    { storage: { links: [{ path: '/x', target: '/y', hard: true }] } },
    { storage: { links: [{ path: '/x', target: '/y', hard: true, user: { id: 1 } }] } },
    { storage: { links: [{ path: '/x', target: '/y' }], files: [{ path: '/x/z' }] } },
    {
      storage: { files: [{ path: '/etc/systemd/system/a.service' }] },
      systemd: unit({ contents: '[Unit]\n' }),
    },
    {
      storage: { files: [{ path: '/etc/systemd/system/a.service' }] },
      systemd: unit({ contents: '' }),
    },
    {
      storage: { links: [{ path: '/etc/systemd/system/a.service.d/b.conf', target: '/x' }] },
      systemd: unit({ dropins: [{ name: 'b.conf', contents: '[Unit]\n' }] }),
    },
    { kernelArguments: { shouldExist: ['a'], shouldNotExist: ['a'] } },
    { kernelArguments: { shouldExist: ['a', 'a'] } },
    { passwd: { users: [{ name: 'core' }], groups: [{ name: 'core' }] } },
    {
      ignition: {
        version: '3.5.0',
        config: { replace: { httpHeaders: [{ name: 'a', value: 'b' }] } },
      },
    },
  ].map((config) => ({
    name: JSON.stringify(config),
    config: { ignition: { version: '3.5.0' }, ...config },
  }));

const UNITS: readonly string[] = [
  '[Service]\nExecStart=/usr/bin/podman run --rm \\\n  # the port\n  -p 8080:80 \\\n  quay.io/x/web\n',
  '[Service]\nExecStart=/usr/bin/podman run \\\n  -p 8080:80 \\\n  quay.io/x/web\n[Install]\nWantedBy=a.target\n',
  ...[
    'ExecStart /bin/true',
    'ExecStart: /bin/true',
    'EOF',
    'A=b\\',
    'A',
    ' A = b ',
    '=b',
    'A\r=b',
  ].flatMap((line) => [`[Service]\n${line}\n[Unit]\n`, `[Service]\n${line}`]),
  ...[
    '[Service',
    '[Service] # x',
    '[Service][Unit]',
    '[Ser\nvice]\nA=b',
    '[Service]\r\nA=b\r\n',
    '[]',
  ],
  ...[
    '# a \\\nb\n[Service]\nA=b',
    '; a\n\n [Service]\nA=b',
    '[Service]\n  # x \\ \nA=b',
    '\n\n',
    '',
  ],
  ...[
    '[Service]\nA=b \\\n\nC=d',
    '[Service]\nA=b \\ \nC',
    '[Service]\nA=\\\n\\\nC',
    '[Service]\n\tA=b',
  ],
  `[Service]\n${'A=b\n'.repeat(100)}${'C'.repeat(5000)}=d\n`,
];
const MODES = [0o1777, 0o2755, 0o4755, 0o777, 1777, 755];
const SOURCES: readonly string[] = [
  ...['http://x.example.com ', 'http://{{host}}/x', 'http://x:abc/', 'http://[::1'],
  ...[
    'http://x/%zz',
    'http://x/?a=%zz',
    'http://x/#%zz',
    'http://u:p@x/',
    'http://u:p q@x/',
    'http://x:/',
  ],
  ...[
    'http://[fd00::1]:80/a',
    'http://[fe80::1%25eno1]/',
    'http://x/a b',
    'http://x_y/',
    'http://x|y/',
  ],
  ...[
    'http://',
    'http:///x',
    'HTTP://x',
    'https://x?y',
    'tftp://x/y',
    's3://b/k',
    's3://b/k?versionId=',
    's3://b/k?versionId=1',
  ],
  ...[
    'arn:aws:s3:::b/k',
    'arn:aws:ec2:::b/k',
    'arn:aws:s3:::b',
    'arn:x',
    'arn:aws:s3:us-west-1:1:accesspoint/a/object/b',
  ],
  ...[
    'arn:aws:s3:us-west-1:1:accesspoint/a',
    'data:,a b',
    'data:,é',
    'data:,a#b',
    'data:,"<>{}',
    'data:,%41',
    'data:,%4',
  ],
  ...[
    'data:text,x',
    'data:text/plain,x',
    'data:text/plain; charset=utf-8,x',
    'data:text/plain;charset=utf-8,x',
  ],
  ...[
    'data:text/plain;charset="utf-8",x',
    'data:;charset=utf-8;base64,eA==',
    'data:image/svg+xml;utf8,x',
    'data:x-a/b,y',
  ],
  ...[
    'Data:,x',
    'data:;BASE64,eA==',
    'data:;base64,eA==',
    'data:;base64,eA%3D%3D',
    'data:;base64,eA=',
    'data://,x',
    'data:font/woff,x',
  ],
  ...['data:,a;b,c', 'data:;base64,', 'data:,', 'data:', 'ftp://x/y', 'file:///x', '/x', 'x'],
];

/** Texts within a config: units, modes and URLs. */
export const configsWithTexts = (): SpecCase[] =>
  [
    ...UNITS.flatMap((contents) => [
      { systemd: unit({ contents }) },
      { systemd: unit({ dropins: [{ name: 'a.conf', contents }] }) },
    ]),
    ...MODES.map((mode) => ({ storage: { directories: [{ path: '/x', mode }] } })),
    ...SOURCES.flatMap((source) => [
      { storage: { files: [{ path: '/x', contents: { source } }] } },
      { storage: luks({ clevis: { tang: [{ url: source, thumbprint: 'x' }] } }) },
      { ignition: { version: '3.5.0', proxy: { httpProxy: source } } },
    ]),
  ].map((config) => ({
    name: JSON.stringify(config).slice(0, 200),
    config: { ignition: { version: '3.5.0' }, ...config },
  }));
