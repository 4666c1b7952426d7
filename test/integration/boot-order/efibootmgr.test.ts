/**
 * The boot order as the real efibootmgr writes it. Its library takes a folder instead of the
 * firmware's file system (EFIVARFS_PATH), and reads the disk from the kernel.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { setBootOrder } from '../../../lib/host/boot-order/set-boot-order.ts';
import { readDisk } from '../../../lib/host/disk.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { fakePrograms, SYSTEMD_RUN } from '../../unit/host/boot-order/fake-firmware.ts';
import { loopDisk, run, settledUdev, withoutLoopDevices as skip, soon } from '../loop-disk.ts';

const GLOBAL = '8be4df61-93ca-11d2-aa0d-00e098032b8c';
/** Non-volatile, and visible at boot and at run time. */
const ATTRIBUTES = [7, 0, 0, 0];
const SHIM = process.arch === 'arm64' ? 'shimaa64.efi' : 'shimx64.efi';

const numbers = (...values: number[]) => values.flatMap((value) => [value & 0xff, value >> 8]);
/** An active load option without a file: its device path ends at once (UEFI specification 3.1.3). */
const loadOption = (label: string) => [
  ...[1, 0, 0, 0, 4, 0],
  ...Buffer.from(`${label}\0`, 'utf16le'),
  ...[0x7f, 0xff, 4, 0],
];

/** A disk with an EFI system partition, and firmware with these numbers in its order. */
async function host(t: Test, order: readonly number[], entries: readonly number[]) {
  const { folder, device, partition } = await loopDisk(t, [{ name: 'EFI-SYSTEM', type: 'ef00' }]);
  await settledUdev(t, folder);
  fakePrograms(t, join(folder, 'bin'), { 'systemd-run': SYSTEMD_RUN });
  const contents = join(folder, 'esp');
  mkdirSync(join(contents, 'EFI/redhat'), { recursive: true });
  writeFileSync(join(contents, 'EFI/redhat', SHIM), '');
  // ext4, since not every kernel supports FAT.
  await run('mke2fs', '-q', '-t', 'ext4', '-d', contents, partition(1));
  const variables = join(folder, 'efivars');
  mkdirSync(variables);
  const at = (name: string) => join(variables, `${name}-${GLOBAL}`);
  const write = (name: string, bytes: readonly number[]) =>
    writeFileSync(at(name), Buffer.from([...ATTRIBUTES, ...bytes]));
  for (const entry of entries) write(`Boot000${entry}`, loadOption(`entry ${entry}`));
  write('BootOrder', numbers(...order));
  write('BootCurrent', numbers(1));
  // fakePrograms puts the environment back.
  Object.assign(process.env, { EFIVARFS_PATH: `${variables}/`, LIBEFIVAR_OPS: 'efivarfs' });
  const paths = { ...hostPaths(), run: join(folder, 'run') };
  const read = (name: string) => {
    const bytes = readFileSync(at(name)).subarray(ATTRIBUTES.length);
    return Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16LE(2 * index));
  };
  const set = async () => setBootOrder(await readDisk(device, paths, soon()), 'efi', paths, soon());
  return { read, set, setOrder: (...values: number[]) => write('BootOrder', numbers(...values)) };
}

t.test('efibootmgr takes the order', { skip }, async (t) => {
  await t.test('a new entry, before a number without an entry', async (t) => {
    const { read, set } = await host(t, [9, 1, 3], [1, 3]);
    t.match(await set(), /^Boot0000 "Linux" .* is first in the boot order$/);
    t.strictSame(read('BootOrder').slice(0, 2), [0, 9], 'efibootmgr itself puts it first');
    t.strictSame(read('BootNext'), [0], 'the medium was first of those that exist');
  });
  await t.test('an existing entry, among numbers without one', async (t) => {
    const { read, set, setOrder } = await host(t, [1, 3], [1, 3]);
    await set();
    setOrder(9, 1, 8, 0, 3);
    await set();
    t.strictSame(read('BootOrder').slice(0, 3), [0, 1, 3]);
  });
});
