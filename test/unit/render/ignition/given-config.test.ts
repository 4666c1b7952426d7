/** What people write as an Ignition config: what Ignition reads over, or writes although nothing on the host can use it. */
import t from 'tap';
import {
  validateGivenConfig,
  withoutInstall,
} from '../../../../lib/render/ignition/given-config.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me';
const HASH = '$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7';
const config = (sections: object) =>
  JSON.stringify({ ignition: { version: '3.4.0' }, ...sections });
const file = (more: object) =>
  config({ storage: { files: [{ path: '/etc/x', mode: 420, ...more }] } });
const user = (more: object) => config({ passwd: { users: [{ name: 'core', ...more }] } });
const unit = (more: object) => config({ systemd: { units: [{ name: 'a.service', ...more }] } });

const REFUSED: readonly (readonly [name: string, text: string, fault: RegExp])[] = [
  ['a Butane config', '# mine\nvariant: fcos\nversion: 1.5.0\n', /^\(file\) is a Butane config/],
  [
    'a MachineConfig',
    'apiVersion: a/v1\nkind: MachineConfig\n',
    /^\(file\) is an object of Kubernetes/,
  ],
  ['compressed', '\u001f\ufffd\b', /^\(file\) is compressed/],
  [
    'too many levels',
    `{"ignition":{"version":"3.2.0"},"x":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`,
    /^\(file\) has more levels than can be read$/,
  ],
  ['a name twice', '{"ignition":{"version":"3.2.0","version":"3.3.0"}}', /same name twice/],
  [
    "Butane's contents",
    file({ contents: { inline: 'x' } }),
    /^storage\.files\[0\]\.contents\.inline is a key of Butane/,
  ],
  [
    'a misspelt section',
    config({ systemD: { units: [] } }),
    /^systemD is no key of Ignition, .* did you mean systemd\?$/,
  ],
  ['a key of nothing', config({ hostname: 'x' }), /^hostname is no key .* reads over it$/],
  [
    'a misspelt key of a drop-in',
    unit({ dropins: [{ name: 'a.conf', content: '[Service]' }] }),
    /^systemd\.units\[0\]\.dropins\[0\]\.content is no key .* mean contents\?$/,
  ],
  [
    'a key of a later version',
    config({ storage: { luks: [{ name: 'a', device: '/dev/vdb1', cex: { enabled: true } }] } }),
    /^storage\.luks\[0\]\.cex is a key of Ignition's spec 3\.5\.0, .* name that version/,
  ],
  [
    'a number as a text',
    config({ storage: { disks: [{ device: '/dev/vdb', partitions: [{ number: '1' }] }] } }),
    /^storage\.disks\[0\]\.partitions\[0\]\.number expected a number, found a text$/,
  ],
  [
    'an SSH key twice',
    user({ sshAuthorizedKeys: [KEY, KEY] }),
    /^passwd\.users\[0\]\.sshAuthorizedKeys has the same text twice$/,
  ],
  [
    'a unit as a file, too',
    config({
      systemd: { units: [{ name: 'a.service', contents: '[Unit]\n' }] },
      storage: { files: [{ path: '/etc/systemd/system/a.service', mode: 420 }] },
    }),
    /^\/etc\/systemd\/system\/a\.service is also below systemd\.units: remove one$/,
  ],
  [
    'a MachineConfig in JSON',
    '{"apiVersion":"a/v1","kind":"MachineConfig"}',
    /is an object of Kube/,
  ],
  ['its YAML', 'ignition: {version: 3.4.0}\nstorage: {}\n', /^\(file\) is YAML: /],
  [
    'a sticky bit',
    file({ mode: 0o1777 }),
    /^\/etc\/x has the mode 1023, which is 01777: .*tmpfiles/,
  ],
  [
    'a setting without its value',
    unit({ contents: '[Service]\nExecStart=/bin/true \\\n  # why\n  --now\n' }),
    /^a\.service has contents without = in line 4: .* comment ends one/,
  ],
  [
    'a fault of a config within',
    config({}).replace(
      '"3.4.0"',
      `"3.4.0","config":{"merge":[{"source":"data:;base64,${Buffer.from(
        user({ uid: '5' }),
      ).toString('base64')}"}]}`,
    ),
    /^ignition\.config\.merge\[0\]: passwd\.users\[0\]\.uid expected a number, found a text$/,
  ],
  ['a mode of chmod', file({ mode: 644 }), /^\/etc\/x has the mode 644, .* write 420 for 0644$/],
  [
    'one of a folder',
    config({ storage: { directories: [{ path: '/srv', mode: 755 }] } }),
    /^\/srv has the mode 755, which is 01363: .* write 493 for 0755$/,
  ],
  [
    'a file of the laptop',
    file({ contents: { source: 'file:///x' } }),
    /^storage\.files\[0\]\.contents\.source is not what Ignition fetches: expected a URL/,
  ],
  [
    'a source without a scheme',
    file({ append: [{ source: '/etc/x' }] }),
    /append\[0\]\.source is not/,
  ],
  ['a password in the clear', user({ passwordHash: 'hunter2' }), /^user core has a passwordHash/],
  [
    'a key that is none',
    user({ sshAuthorizedKeys: [KEY, '~/.ssh/id.pub'] }),
    /^user core has an SSH key that logs nobody in: .* found the path of a file/,
  ],
  [
    'a unit without a section',
    unit({ contents: '# mine\n\nExecStart=/bin/true\n' }),
    /^a\.service has contents that do not begin with a section/,
  ],
  [
    'a drop-in without a section',
    unit({ dropins: [{ name: 'a.conf', contents: 'Nice=5\n' }] }),
    /^a\.service\.d\/a\.conf has contents that do not begin/,
  ],
];

for (const [name, text, fault] of REFUSED) {
  t.test(`refused: ${name}`, async (t) => {
    const faults = validateGivenConfig(text).map(({ at, problem }) => `${at} ${problem}`);
    t.equal(faults.length, 1, faults.join('\n'));
    t.match(faults[0], fault);
    t.notMatch(faults[0], /hunter2/);
  });
}

t.test('right ones', async (t) => {
  for (const text of [
    file({ contents: { source: 'data:,x' }, user: { name: 'core' }, group: { id: 5 } }),
    file({ mode: 0o777, contents: { source: '' } }),
    file({
      contents: {
        source: 'https://x.example.com/y',
        httpHeaders: [{ name: 'a', value: 'b' }],
        verification: { hash: `sha512-${'a'.repeat(128)}` },
      },
    }),
    ...[HASH, '$6$salt$hash', '$2y$10$x', '*', '!', '', null].map((passwordHash) =>
      user({ passwordHash, uid: 1000, shell: '/bin/bash' }),
    ),
    user({ sshAuthorizedKeys: [KEY, `no-pty ${KEY}`] }),
    unit({ contents: '# a\n; b\n\n  [Unit]\nDescription=a\n', mask: false }),
    unit({ contents: `${'# a\n \n'.repeat(1000)}[Unit]\n` }),
    unit({ contents: '', enabled: true }),
    unit({ mask: true, dropins: [{ name: 'a.conf' }, { name: 'b.conf', contents: '[Service]' }] }),
    config({
      kernelArguments: { shouldExist: ['quiet'] },
      storage: {
        disks: [{ device: '/dev/vdb', partitions: [{ label: 'data', sizeMiB: 0 }] }],
        filesystems: [{ device: '/dev/disk/by-partlabel/data', format: 'xfs', path: '/srv' }],
        luks: [
          {
            name: 'a',
            device: '/dev/vdb1',
            clevis: { tang: [{ url: 'http://x', thumbprint: 'x' }] },
          },
        ],
        links: [{ path: '/etc/localtime', target: '../usr/share/zoneinfo/UTC', hard: false }],
      },
    }),
  ]) {
    t.strictSame(validateGivenConfig(text), [], text);
  }
});

t.test('contents of many megabytes', async (t) => {
  const of = (data: string) => file({ contents: { source: `data:,${data}` } });
  t.strictSame(validateGivenConfig(of('a'.repeat(16 * 2 ** 20))), []);
  t.match(validateGivenConfig(of(`${'a'.repeat(16 * 2 ** 20)} b`)), [{ problem: /not what Ign/ }]);
});

t.test('units that are enabled, but started by nothing', async (t) => {
  const install = '[Install]\nWantedBy=multi-user.target\n';
  const units = [
    { name: 'a.service', enabled: true, contents: '[Service]\n' },
    { name: 'b.service', enabled: true, contents: `[Service]\n${install}` },
    {
      name: 'c.service',
      enabled: true,
      contents: '[Service]\n',
      dropins: [{ name: 'c.conf', contents: install }],
    },
    { name: 'd.service', enabled: true },
    { name: 'e.service', contents: '[Service]\n' },
  ];
  t.strictSame(withoutInstall({ ignition: { version: '3.2.0' }, systemd: { units } }), [
    'a.service',
  ]);
  t.strictSame(withoutInstall({ ignition: { version: '3.2.0' } }), []);
});
