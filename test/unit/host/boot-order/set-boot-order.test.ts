import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bootOrder } from '../../../../agents/install-to-disk/boot-order.ts';
import { firmwareOf, setBootOrder } from '../../../../lib/host/boot-order/set-boot-order.ts';
import type { BlockDevice } from '../../../../lib/host/disk.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { testHost } from '../../agents/host/host.ts';
import { type FakeVariables, fakeFirmware, fakePrograms } from './fake-firmware.ts';

const OURS = '94ff4025-5276-4bec-adea-e98da271b64c';
const EARLIER = '11111111-5276-4bec-adea-e98da271b64c';
const SHIM = process.arch === 'arm64' ? 'shimaa64.efi' : 'shimx64.efi';
const LOADER = `\\EFI\\redhat\\${SHIM}`;
const medium = { label: 'UEFI: USB', path: 'PciRoot(0x0)/Pci(0x14,0x0)/USB(1,0)0000424f' };
const entry = (partition: string, label = 'Linux') => ({
  label,
  path: `HD(2,GPT,${partition},0x1000,0x3f800)/File(${LOADER})`,
});
const device = { type: 'disk', size: 1e11, label: null, fstype: null, pttype: 'gpt' };
const disk: BlockDevice = {
  ...device,
  path: '/dev/sda',
  kname: 'sda',
  partlabel: null,
  parttype: null,
  partuuid: null,
  children: [
    {
      ...device,
      path: '/dev/sda2',
      kname: 'sda2',
      partlabel: 'EFI-SYSTEM',
      parttype: 'C12A7328-F81F-11D2-BA4B-00A0C93EC93B',
      partuuid: OURS.toUpperCase(),
      number: 2,
    },
  ],
};

/** A host whose firmware and EFI system partition are folders. */
function efiHost(t: Test, variables: FakeVariables) {
  const root = t.testdir({
    esp: { EFI: { redhat: { [SHIM]: '' } } },
    sys: { firmware: { efi: {} } },
  });
  const now = fakeFirmware(t, join(root, 'fake'), { partition: OURS, ...variables });
  const partuuids = [OURS, null].map((partuuid) => ({ partuuid }));
  fakePrograms(t, join(root, 'programs'), {
    lsblk: `#!/bin/sh\necho '${JSON.stringify({ blockdevices: partuuids })}'\n`,
    mount: `#!/bin/sh\nfor at; do :; done; cp -r ${root}/esp/. "$at"\n`,
    umount: '#!/bin/sh\nrm -r "$1"/*\n',
  });
  const paths = hostPaths(root);
  return { now, set: () => setBootOrder(disk, 'efi', paths, AbortSignal.timeout(30_000)) };
}

t.test('a medium that was first: an entry, the order and the next boot', async (t) => {
  const { now, set } = efiHost(t, {
    current: '0001',
    order: ['0001', '0000'],
    entries: { '0000': entry(EARLIER), '0001': medium, '0002': entry(EARLIER, 'My own') },
  });
  t.equal(
    await set(),
    `Boot0000 "Linux" (${LOADER} on /dev/sda) is first in the boot order, 1 stale entries removed`,
  );
  t.match(now(), {
    order: ['0000', '0001'],
    next: '0000',
    entries: { '0000': entry(OURS), '0001': medium, '0002': entry(EARLIER, 'My own') },
  });
});

t.test('an existing entry is reused, and nothing is written twice', async (t) => {
  const { now, set } = efiHost(t, {
    current: '0001',
    order: ['0002', '0001'],
    entries: { '0001': medium, '0002': medium, '0005': entry(OURS) },
  });
  t.match(await set(), /^Boot0005 .* is first in the boot order$/);
  t.match(now(), { order: ['0005', '0002', '0001'] });
  t.notMatch(now(), { next: '0005' }, 'the medium was not first: it was chosen by hand');
  const before = now();
  await set();
  t.strictSame(now(), before);
});

t.test('numbers in the order without an entry are left out', async (t) => {
  const { now, set } = efiHost(t, {
    current: '0001',
    order: ['0009', '0001', '0007', '0005', '0001'],
    entries: { '0001': medium, '0005': entry(OURS) },
  });
  await set();
  t.match(now(), { order: ['0005', '0001'], next: '0005' }, 'and the medium was the first of all');
  t.equal(now().order.length, 2);
});

t.test('a firmware that refuses every order starts the disk once', async (t) => {
  const { now, set } = efiHost(t, {
    current: '0001',
    order: ['0001', '0005'],
    entries: { '0001': medium, '0005': entry(OURS) },
    fault: 'refuses-orders',
  });
  await t.rejects(set(), { message: /efibootmgr --bootorder 0005,0001.*failed/ });
  t.match(now(), { order: ['0001', '0005'], next: '0005' });
});

t.test('firmware that refuses, or accepts and forgets', async (t) => {
  const table: [FakeVariables['fault'] & string, RegExp][] = [
    ['read-only', /efibootmgr --create.* failed; found exit code 5 .*Read-only file system/],
    ['full', /No space left on device/],
    ['forgets-entries', /did not keep the boot entry of the disk; expected an active entry/],
    [
      'keeps-its-order',
      /did not keep the boot order; expected Boot0005 first.*found BootOrder 0001,0005/,
    ],
  ];
  for (const [fault, message] of table) {
    await t.test(fault, async (t) => {
      const entries: FakeVariables['entries'] =
        fault === 'keeps-its-order' ? { '0001': medium, '0005': entry(OURS) } : { '0001': medium };
      const order = Object.keys(entries);
      const { set } = efiHost(t, { current: '0001', order, entries, fault });
      await t.rejects(set(), { message });
    });
  }
});

t.test('a disk that cannot be booted by EFI', async (t) => {
  const paths = hostPaths(t.testdir());
  await t.rejects(
    setBootOrder({ ...disk, children: [] }, 'efi', paths, new AbortController().signal),
    {
      message: /\/dev\/sda has no EFI system partition/,
    },
  );
});

t.test('Power: the disk is the only device of the normal mode', async (t) => {
  const root = t.testdir({ usr: { sbin: { bootlist: '' } } });
  const paths = hostPaths(root);
  fakeFirmware(t, join(root, 'fake'), { order: [], entries: {} });
  fakePrograms(t, join(root, 'programs'), {
    bootlist: '#!/bin/sh\n[ "$*" = "-m normal -o /dev/sda" ] || exit 9\n',
  });
  t.equal(await firmwareOf(paths), 'power');
  t.match(await setBootOrder(disk, 'power', paths, AbortSignal.timeout(30_000)), /^bootlist has/);
});

t.test('the step never ends an installation', async (t) => {
  await t.test('a BIOS', async (t) => {
    const host = testHost(t);
    t.equal(await firmwareOf(host.paths), 'none');
    t.match(await bootOrder.run(host.context, host.progress()), { note: 'left to the BIOS' });
    t.match(host.lines.join(''), /Without EFI .* Put \/dev\/vda first in the firmware setup/);
  });
  await t.test('firmware that cannot be queried', async (t) => {
    const host = testHost(t);
    host.write('/sys/firmware/efi/fw_platform_size', '64');
    host.programs.give('udevadm', '[ "$1" = settle ]');
    const { cluster } = host.context;
    const installation = { ...cluster.installation, disk: '/dev/nowhere' };
    const context = { ...host.context, cluster: { ...cluster, installation } };
    t.match(await bootOrder.run(context, host.progress()), { kind: 'done', note: 'not changed' });
    t.match(host.lines.join(''), /The boot order was not changed: .*\/dev\/nowhere.* Put /);
  });
  await t.test('unless it is told to stop', async (t) => {
    const host = testHost(t);
    host.write('/sys/firmware/efi/fw_platform_size', '64');
    const stopped = AbortSignal.abort(new Error('told to stop'));
    await t.rejects(bootOrder.run(host.context, host.progress(stopped)), {
      message: 'told to stop',
    });
  });
});
