import t from 'tap';
import { parseEfibootmgr } from '../../../../lib/host/boot-order/efibootmgr.ts';
import { mediumIsFirst, orderWith, planEntries } from '../../../../lib/host/boot-order/plan.ts';
import { version17, version18, version18Verbose, withoutOrder } from './recorded.ts';

t.test('what efibootmgr 17 prints', async (t) => {
  const found = parseEfibootmgr(version17);
  t.match(found, { current: '0004', order: ['0004', '0000', '0001', '0002', '0003'] });
  t.equal(found.next, undefined);
  t.strictSame(
    found.entries.map(({ number, active, target }) => [number, active, target !== undefined]),
    [
      ['0000', true, false],
      ['0001', true, false],
      ['0002', false, false],
      ['0003', true, false],
      ['0004', true, true],
    ],
  );
  t.strictSame(found.entries.at(-1), {
    number: '0004',
    active: true,
    label: 'Oracle Linux',
    target: {
      partition: 'dff50c5d-96ed-406c-9823-212649b405bd',
      partitionNumber: 1,
      loader: '\\EFI\\redhat\\shimx64.efi',
    },
  });
});

t.test('what efibootmgr 18 prints', async (t) => {
  const found = parseEfibootmgr(version18);
  t.match(found, {
    current: '0002',
    next: '000A',
    order: ['0002', '0000', '000A', '0004', '0007'],
  });
  t.strictSame(
    found.entries.map(({ number, label, target }) => [number, label, target?.loader]),
    [
      ['0000', 'Windows Boot Manager', '\\EFI\\MICROSOFT\\BOOT\\BOOTMGFW.EFI'],
      ['0002', 'Fedora', '\\EFI\\FEDORA\\SHIMX64.EFI'],
      [
        '0004',
        'UEFI: KIOXIA-EXCERIA PLUS G3 SSD, Partition 1',
        '\\EFI\\Microsoft\\Boot\\bootmgfw.efi',
      ],
      ['0007', 'UEFI: KingstonDTR30G2 PMAP, Partition 2', undefined],
      ['000A', 'kali', '\\EFI\\kali\\grubx64.efi'],
      ['2001', 'EFI USB Device', undefined],
    ],
  );
  t.equal(found.entries[1]?.target?.partition, '64025f92-2885-411a-bc74-a7e1a226287d');
  const verbose = parseEfibootmgr(version18Verbose);
  t.strictSame(verbose.order, ['0003', '0001']);
  t.equal(verbose.entries.length, 2, 'the bytes below an entry are none');
  t.equal(verbose.entries[1]?.target?.loader, '\\EFI\\fedora\\shimx64.efi');
});

t.test('firmware without a boot order, and unrelated text', async (t) => {
  t.strictSame(parseEfibootmgr(withoutOrder).order, []);
  const none = { current: undefined, next: undefined, order: [], entries: [] };
  t.strictSame(parseEfibootmgr(''), none);
  t.strictSame(parseEfibootmgr('EFI variables are not supported on this system.\n').entries, []);
  t.strictSame(parseEfibootmgr('BootOrder: 00,zzzz,0001').order, ['0001']);
});

const ours = '94ff4025-5276-4bec-adea-e98da271b64c';
const earlier = '11111111-5276-4bec-adea-e98da271b64c';
const otherDisk = '22222222-5276-4bec-adea-e98da271b64c';
const wanted = {
  label: 'Fedora',
  loader: '\\EFI\\fedora\\shimx64.efi',
  partition: ours,
  partitionNumber: 2,
};
const line = (number: string, label: string, partition: string, loader: string, active = '*') =>
  `Boot${number}${active} ${label}\tHD(2,GPT,${partition},0x1000,0x3f800)/${loader}`;

t.test('which entries are kept, used and removed', async (t) => {
  const shim = '\\EFI\\fedora\\shimx64.efi';
  const table: [name: string, lines: string[], existing: string | undefined, stale: string[]][] = [
    ['none is there', [], undefined, []],
    ['one that fits', [line('0003', 'Fedora', ours, shim)], '0003', []],
    [
      'one that fits in capitals and by another label',
      [line('0003', 'UEFI OS', ours.toUpperCase(), shim.toUpperCase())],
      '0003',
      [],
    ],
    [
      'two that fit',
      [line('0003', 'Fedora', ours, shim), line('0004', 'Fedora', ours, shim)],
      '0003',
      ['0004'],
    ],
    ['an inactive one', [line('0003', 'Fedora', ours, shim, ' ')], undefined, ['0003']],
    [
      'one of an earlier installation, whose partition is gone',
      [line('0003', 'Fedora', earlier, shim)],
      undefined,
      ['0003'],
    ],
    ['one of another disk', [line('0003', 'Fedora', otherDisk, shim)], undefined, []],
    [
      'others of a partition that is gone',
      [
        line('0003', 'Windows Boot Manager', earlier, '\\EFI\\Microsoft\\Boot\\bootmgfw.efi'),
        line('0004', 'My Fedora', earlier, shim),
      ],
      undefined,
      [],
    ],
    [
      'another loader of the same partition',
      [line('0003', 'Fedora', ours, '\\EFI\\fedora\\grubx64.efi')],
      undefined,
      [],
    ],
  ];
  for (const [name, lines, existing, stale] of table) {
    const plan = planEntries(parseEfibootmgr(lines.join('\n')), wanted, new Set([ours, otherDisk]));
    t.strictSame(plan, { existing, stale }, name);
  }
});

t.test('order and next boot', async (t) => {
  const { entries } = parseEfibootmgr(
    ['0000', '0001', '0002', '0003']
      .map((number) => line(number, 'x', ours, '\\EFI\\x.efi'))
      .join('\n'),
  );
  const orders: [string[], string[]][] = [
    [
      ['0001', '0003', '0000'],
      ['0003', '0001', '0000'],
    ],
    [[], ['0003']],
    [
      ['0007', '0001', '0008'],
      ['0003', '0001'],
    ],
    [
      ['0001', '0001', '0003'],
      ['0003', '0001'],
    ],
  ];
  for (const [order, expected] of orders) {
    t.strictSame(orderWith('0003', { entries, order }), expected, `${order}`);
  }
  const medium = { entries, order: ['0009', '0001', '0003'] };
  t.equal(mediumIsFirst({ ...medium, current: '0001' }, '0003'), true);
  t.equal(mediumIsFirst({ ...medium, current: '0002' }, '0003'), false, 'it was chosen by hand');
  t.equal(mediumIsFirst(medium, '0003'), false, 'the firmware does not say');
  t.equal(mediumIsFirst({ ...medium, current: '0001' }, '0001'), false);
});
