import { constants, rmSync, writeFileSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { refuseDisk } from '../../../lib/cluster/installation/disk-refusal.ts';
import { readBlockNode } from '../../../lib/host/block-device.ts';
import { readDiskUse } from '../../../lib/host/disk-use.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { captureBuiltins } from '../host/builtins.ts';
import { kernelTree } from './kernel-tree.ts';
import { refusals } from './refusals.ts';

async function useOf(paths: HostPaths, device: string, path = device) {
  const node = await readBlockNode(paths, basename(path));
  if (node === undefined) throw new Error(`the kernel does not know ${path}`);
  return readDiskUse(paths, device, { path, node });
}

for (const [name, { host, device, path = '/dev/sda', says }] of Object.entries(refusals)) {
  t.test(`${says === undefined ? 'may be written' : 'is refused'}: ${name}`, async (t) => {
    const paths = kernelTree(t.testdir(), host);
    const refusal = refuseDisk(device ?? path, await useOf(paths, device ?? path, path));
    t.equal(refusal?.kind, says === undefined ? undefined : 'fatal');
    if (says !== undefined) t.match(refusal?.code, /^disk-(in-use|unsuitable)$/);
    for (const text of says ?? []) t.match(refusal?.message, text);
  });
}

/** The result of an exclusive open of a device. */
async function openedWith(t: Test, error: Error, size?: number) {
  const devices = { sda: { number: '8:0', ...(size === undefined ? {} : { size }) } };
  const paths = kernelTree(t.testdir(), { devices });
  const { open } = fsp;
  captureBuiltins(t, () => {
    t.capture(fsp, 'open', async (path: string, flags?: string | number) => {
      if (path !== paths.at('/dev/sda')) return open(path, flags);
      // Without O_EXCL it would never be refused; without O_NONBLOCK an empty drive would close its tray.
      t.equal(flags, constants.O_RDONLY | constants.O_EXCL | constants.O_NONBLOCK);
      throw error;
    });
  });
  return useOf(paths, '/dev/sda');
}

const answer = (code: string) => Object.assign(new Error(code), { code });

t.test('an exclusively opened disk may become free', async (t) => {
  const use = await openedWith(t, answer('EBUSY'));
  t.match(use, { isClaimed: true, uses: [] });
  t.match(refuseDisk('/dev/sda', use), {
    kind: 'retry',
    code: 'disk-in-use',
    details: { found: /EBUSY/ },
  });
});

t.test('a drive without a medium is not in use', async (t) => {
  const use = await openedWith(t, answer('ENOMEDIUM'), 0);
  t.match(use, { isClaimed: false, uses: [] });
  t.match(refuseDisk('/dev/sda', use), {
    kind: 'fatal',
    details: { found: 'a drive without a medium' },
  });
});

t.test('a device that cannot be opened does not count as free', async (t) => {
  await t.rejects(openedWith(t, answer('EIO')), { code: 'EIO' });
  await t.test('for a reason without a code', async (t) => {
    await t.rejects(openedWith(t, new Error('lost')), { message: 'lost' });
  });
});

t.test('a disk in use is not opened', async (t) => {
  const paths = kernelTree(t.testdir(), {
    devices: { sda: { number: '8:0' } },
    swaps: '/dev/sda partition 1 0 -2\n',
  });
  captureBuiltins(t, () => {
    t.capture(fsp, 'open', async (path: string) => t.fail(`${path} is opened`));
  });
  t.match(await useOf(paths, '/dev/sda'), { uses: [{ device: '/dev/sda', by: 'swap' }] });
});

t.test('everything that is read about a disk', async (t) => {
  const paths = kernelTree(t.testdir(), {
    devices: {
      sda: {
        number: '8:0',
        size: 4096,
        partitions: { sda2: { number: '8:2', size: 2048, attributes: { partition: '2' } } },
        holders: ['dm-0'],
      },
      'dm-0': {
        number: '253:0',
        attributes: { 'dm/name': 'luks', 'dm/uuid': 'CRYPT-LUKS2-1-luks' },
        holders: ['md0'],
      },
      md0: { number: '9:0', attributes: { 'md/metadata_version': '1.2' } },
      loop1: { number: '7:1', attributes: { 'loop/backing_file': '/dev/sda2' } },
      loop2: { number: '7:2', attributes: { 'loop/backing_file': '/srv/image' } },
      loop3: { number: '7:3' },
    },
    mountinfo: '36 25 9:0 / /srv rw - xfs /dev/md0 rw\n37 25 0:35 / /run rw - tmpfs tmpfs rw\n',
    inContainer: true,
  });
  const node = { name: 'sda', number: '8:0', bytes: 2 ** 21, readOnly: false };
  const mounted = { device: '/dev/md0', by: 'mount', at: '/srv' };
  const array = { by: 'holder', kind: 'array', name: 'md0', uses: [mounted] };
  const luks = { device: '/dev/mapper/luks', ...array };
  t.strictSame(await useOf(paths, '/dev/sda'), {
    path: '/dev/sda',
    node,
    rivals: [],
    inContainer: true,
    uses: [
      { device: '/dev/sda', by: 'holder', kind: 'crypt', name: 'luks', uses: [luks] },
      { device: '/dev/sda2', by: 'loop', name: 'loop1' },
    ],
    isClaimed: false,
  });
  t.strictSame(await useOf(paths, '/dev/sda2'), {
    path: '/dev/sda2',
    node: {
      name: 'sda2',
      number: '8:2',
      bytes: 2 ** 20,
      readOnly: false,
      partition: { number: 2, startBytes: 0 },
    },
    disk: '/dev/sda',
    rivals: [],
    inContainer: true,
    uses: [{ device: '/dev/sda2', by: 'loop', name: 'loop1' }],
    isClaimed: false,
  });
});

t.test('a host without tables of mounts and swaps', async (t) => {
  const paths = kernelTree(t.testdir(), { devices: { sda: { number: '8:0' } } });
  rmSync(paths.at('/proc'), { recursive: true });
  t.match(await useOf(paths, '/dev/sda'), { uses: [], inContainer: false });
});

t.test('each mount point is reported once, that of the whole file system first', async (t) => {
  const at = async (...mounts: string[]) => {
    const lines = mounts.map((mount) => `36 25 ${mount} rw,relatime shared:1 - ext4`);
    const paths = kernelTree(t.testdir(), {
      devices: { sda: { number: '8:0' } },
      mountinfo: lines.map((line) => `${line} /dev/other rw\n`).join(''),
    });
    const { uses } = await useOf(paths, '/dev/sda');
    return uses.map((use) => (use.by === 'mount' ? use.at : use.by));
  };
  t.same(await at('8:0 / /srv', '8:0 / /srv'), ['/srv'], 'mounted over itself');
  t.same(await at('8:0 / /srv', '8:0 / /mnt', '8:0 /a /bound'), ['/srv', '/mnt']);
  t.same(await at('8:0 /a /bound', '8:0 /b /other'), ['/bound', '/other'], 'parts alone');
  t.same(await at('8:0 / /tab\\011new\\012back\\134slash'), ['/tab\tnew\nback\\slash']);
  t.same(await at('8:1 / /srv', '18:0 / /mnt'), [], 'of other devices');
  const torn = kernelTree(t.testdir(), {
    devices: { sda: { number: '8:0' } },
    mountinfo: '35 25 8:0 / /srv rw - ext4 /dev/sda rw\n36 25 8:0 /\n37 25 8:0 / /mnt rw\n',
  });
  const { uses } = await useOf(torn, '/dev/sda');
  t.match(uses, [{ at: '/srv' }, { at: '/mnt' }], 'lines that were cut');
});

t.test('other disks that claim the same link', async (t) => {
  const host = {
    devices: {
      sda: { number: '8:0' },
      sdb: { number: '8:16' },
      sdc: { number: '8:32' },
      'dm-0': { number: '253:0', slaves: ['sda'], attributes: { 'dm/name': 'mpatha' } },
    },
    links: {
      'disk/by-id/a\\b': ['8:0', '8:16', '253:0'],
      'disk/by-id/c': ['8:0', '8:48'],
      'disk/by-id/d': ['8:32'],
      sda: ['8:16'],
    },
  };
  const paths = kernelTree(t.testdir(), host);
  const links = '/run/udev/links/\\x2fdisk\\x2fby-id\\x2fd';
  for (const name of ['b8:160', 'xb8:16', 'n8:16', '.tmp'])
    writeFileSync(join(paths.at(links), name), '');
  const rivals = async (device: string, path: string) => (await useOf(paths, device, path)).rivals;
  t.same(await rivals('/dev/disk/by-id/a\\b', '/dev/sda'), ['/dev/mapper/mpatha', '/dev/sdb']);
  t.same(await rivals('/dev/disk/by-id/a\\b', '/dev/dm-0'), ['/dev/sdb'], 'not its own paths');
  t.same(await rivals('/dev/disk/by-id/c', '/dev/sda'), [], 'a device that has gone');
  t.same(await rivals('/dev/disk/by-id/d', '/dev/sdc'), [], 'what is no claim');
  t.same(await rivals('/dev/disk/by-id/e', '/dev/sdc'), [], 'a link that udev does not know');
  t.same(await rivals('/dev/sda', '/dev/sda'), [], 'a name of the kernel is of one device');
});
