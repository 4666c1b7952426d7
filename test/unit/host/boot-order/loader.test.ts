import t from 'tap';
import { findLoader } from '../../../../lib/host/boot-order/loader.ts';

/** shim's list of entries, in UTF-16 with a byte order mark, as stored on the partition. */
const csv = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

t.test('the loader on an EFI system partition', async (t) => {
  const fallback = { 'BOOTX64.EFI': '', 'fbx64.efi': '', 'BOOTAA64.EFI': '' };
  const table: [string, object, string, object | undefined][] = [
    [
      'RHEL CoreOS',
      {
        EFI: {
          BOOT: fallback,
          redhat: {
            'shimx64.efi': '',
            'grubx64.efi': '',
            'BOOTX64.CSV': csv(
              'shimx64.efi,Red Hat Enterprise Linux,,This is the boot entry for Red Hat\n',
            ),
          },
        },
      },
      'x64',
      { path: '\\EFI\\redhat\\shimx64.efi', label: 'Red Hat Enterprise Linux' },
    ],
    [
      'Fedora CoreOS on Arm, names as a FAT may show them',
      {
        efi: {
          boot: fallback,
          FEDORA: { 'SHIMAA64.EFI': '', 'BOOTAA64.CSV': csv('shimaa64.efi,Fedora,,') },
        },
      },
      'arm64',
      { path: '\\efi\\FEDORA\\SHIMAA64.EFI', label: 'Fedora' },
    ],
    [
      'another vendor, without a list',
      { EFI: { BOOT: fallback, debian: { 'shimx64.efi': '' } } },
      'x64',
      { path: '\\EFI\\debian\\shimx64.efi', label: 'Linux' },
    ],
    [
      'a list that is damaged',
      { EFI: { redhat: { 'shimx64.efi': '', 'BOOTX64.CSV': csv('shimx64.efi,a"b\u0007\n') } } },
      'x64',
      { path: '\\EFI\\redhat\\shimx64.efi', label: 'Linux' },
    ],
    [
      'two vendors',
      { EFI: { aaa: { 'shimx64.efi': '' }, fedora: { 'shimx64.efi': '' } } },
      'x64',
      { path: '\\EFI\\fedora\\shimx64.efi', label: 'Linux' },
    ],
    [
      'the fallback alone',
      { EFI: { BOOT: fallback } },
      'x64',
      { path: '\\EFI\\BOOT\\BOOTX64.EFI', label: 'Linux' },
    ],
    [
      'the shim of another architecture',
      { EFI: { redhat: { 'shimx64.efi': '' } } },
      'arm64',
      undefined,
    ],
    ['an architecture without EFI', { EFI: { BOOT: fallback } }, 's390x', undefined],
    ['an empty partition', {}, 'x64', undefined],
  ];
  for (const [name, files, arch, expected] of table) {
    await t.test(name, async (t) =>
      t.strictSame(await findLoader(t.testdir({ ...files }), arch), expected),
    );
  }
});
