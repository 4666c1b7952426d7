import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { BuildContext } from '../component.ts';
import { unpackPackages } from '../debian-download.ts';
import { runInTree } from './tree.ts';

/** The cloud kernel has no driver for AHCI, USB or e1000. It is signed for Secure Boot. */
const META_PACKAGE = 'linux-image-amd64';

/** Modules of devices that no machine of the lab has: most of the package. */
const dropped = [
  'sound',
  'arch/x86/kvm',
  'drivers/cpufreq',
  'drivers/gpu',
  'drivers/media',
  'drivers/infiniband',
  'drivers/staging',
  'drivers/iio',
  'drivers/comedi',
  'drivers/hid',
  'drivers/isdn',
  'drivers/bluetooth',
  'drivers/mtd',
  'drivers/edac',
  'drivers/hwmon',
  'drivers/leds',
  'drivers/mfd',
  'drivers/mmc',
  'drivers/net/can',
  'drivers/net/wireless',
  'drivers/net/wwan',
  'drivers/net/usb',
  'drivers/net/ethernet',
  'drivers/platform',
  'drivers/power',
  'drivers/thunderbolt',
  'drivers/video',
  'drivers/xen',
  'net/bluetooth',
  'net/mac80211',
  'net/wireless',
  'net/can',
  'net/nfc',
  'net/rds',
  'net/tipc',
];

/** Network adapters that qemu has; they are below a dropped folder. */
const kept = ['drivers/net/ethernet/intel/e1000', 'drivers/net/ethernet/intel/e1000e'];

/** Where a tree has its kernel, as on CoreOS: beside its modules. */
export const kernelIn = (tree: string, version: string) =>
  join(tree, 'usr/lib/modules', version, 'vmlinuz');

/** And its initramfs. */
export const initramfsIn = (tree: string, version: string) =>
  join(dirname(kernelIn(tree, version)), 'initramfs.img');

/** The version of the only kernel of a tree. */
export async function kernelVersion(tree: string): Promise<string> {
  const [version, ...more] = await readdir(join(tree, 'usr/lib/modules'));
  if (version !== undefined && more.length === 0) return version;
  throw new Failure('fatal', `${tree} has not exactly one kernel`, {
    found: [version, ...more].join(' '),
  });
}

/** Unpacks Debian's newest kernel into the tree. Returns its version. */
export async function installKernel(
  tree: string,
  work: string,
  context: Pick<BuildContext, 'signal' | 'report'>,
): Promise<string> {
  const { signal } = context;
  const within = { cancelSignal: signal, timeout: 5 * 60_000 };
  const { stdout } = await execa('apt-cache', ['depends', META_PACKAGE], within);
  const name = /Depends: (linux-image-\S+)/.exec(stdout)?.[1];
  if (name === undefined) {
    throw new Failure('fatal', `${META_PACKAGE} has no kernel`, {
      found: stdout,
      fix: 'Run apt-get update.',
    });
  }
  const version = name.replace('linux-image-', '');
  const unpacked = join(work, 'kernel');
  await unpackPackages([name], unpacked, context);
  const modules = join(unpacked, 'lib/modules', version);
  await keepDrivers(join(modules, 'kernel'));
  const target = join(tree, 'usr/lib/modules');
  await mkdir(target, { recursive: true });
  await execa('cp', ['-a', modules, target], within);
  await rename(join(unpacked, 'boot', `vmlinuz-${version}`), kernelIn(tree, version));
  await runInTree(tree, ['depmod', version], signal);
  await rm(unpacked, { recursive: true });
  return version;
}

async function keepDrivers(modules: string): Promise<void> {
  const aside = join(modules, '..', '.kept');
  for (const folder of kept) {
    await mkdir(join(aside, folder, '..'), { recursive: true });
    await rename(join(modules, folder), join(aside, folder));
  }
  for (const folder of dropped) await rm(join(modules, folder), { recursive: true, force: true });
  for (const folder of kept) {
    await mkdir(join(modules, folder, '..'), { recursive: true });
    await rename(join(aside, folder), join(modules, folder));
  }
  await rm(aside, { recursive: true });
}
