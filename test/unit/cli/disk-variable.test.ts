import t from 'tap';
import { splitArguments } from '../../../cli/install-config/arguments.ts';
import { DISK_VARIABLE, readDiskVariable } from '../../../cli/install-config/disk-variable.ts';

const SPLIT: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  ['  a\tb\n c ', ['a', 'b', 'c']],
  [`'a b' "c d"`, ['a b', 'c d']],
  [`a'b'"c"d`, ['abcd']],
  [`a\\ b \\'c`, ['a b', "'c"]],
  [`"a\\"b\\\\c\\n"`, ['a"b\\c\\n']],
  [`'a\\b'`, ['a\\b']],
  [`'' ""`, ['', '']],
  ['$HOME *.x ; `id`', ['$HOME', '*.x', ';', '`id`']],
];
for (const [text, args] of SPLIT) {
  t.test(`split ${JSON.stringify(text)}`, async (t) => t.same(splitArguments(text), args));
}
for (const text of [`'a`, `"a\\"`, 'a\\', 'a\u0000b', 'a\u001bb']) {
  t.test(`refuse to split ${JSON.stringify(text)}`, async (t) => {
    t.throws(() => splitArguments(text), { kind: 'usage', message: /The arguments/ });
  });
}

const READ: readonly (readonly [string | undefined, { disk?: string; rest: string[] }])[] = [
  [undefined, { rest: [] }],
  ['  ', { rest: [] }],
  ['/dev/vda', { disk: '/dev/vda', rest: [] }],
  ['-- /dev/vda', { disk: '/dev/vda', rest: [] }],
  ['/dev/vda --offline', { disk: '/dev/vda', rest: ['--offline'] }],
  [
    "--save-partlabel 'data*' /dev/vda --console=ttyS0",
    { disk: '/dev/vda', rest: ['--save-partlabel', 'data*', '--console=ttyS0'] },
  ],
  [
    '--append-karg a --append-karg b /dev/vda',
    { disk: '/dev/vda', rest: ['--append-karg', 'a', '--append-karg', 'b'] },
  ],
  ['--append-karg /dev/vda', { rest: ['--append-karg', '/dev/vda'] }],
];
for (const [value, args] of READ) {
  t.test(`read ${JSON.stringify(value)}`, async (t) => t.same(readDiskVariable(value), args));
}

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['/dev/vda /dev/vdb', /2 disks/],
  ['sda', /"sda"/],
  ['/etc/passwd', /"\/etc\/passwd"/],
  ['--frobnicate /dev/vda', /Unknown option '--frobnicate'/],
  ['/dev/vda --append-karg', /argument missing/],
  ['-i /tmp/x.ign /dev/vda', /-i/],
  ['--ignition-url http://x /dev/vda', /--ignition-url/],
  ['--copy-network /dev/vda', /--copy-network/],
  ['-n /dev/vda', /-n/],
  ['--insecure-ignition /dev/vda', /--insecure-ignition/],
  ['--ignition-hash sha512-00 /dev/vda', /--ignition-hash/],
  ['/dev/null', /"\/dev\/null"/],
  ['--config-file x /dev/vda', /--config-file/],
  [`'/dev/vda`, /unclosed quote/],
];
for (const [value, found] of REFUSED) {
  t.test(`refuse ${JSON.stringify(value)}`, async (t) => {
    t.match(readDiskVariable(value), { fault: { field: DISK_VARIABLE, found, fix: /\.$/ } });
  });
}
