import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LIVE_ISO } from '../components/live-iso.ts';
import { LIVE_ARGUMENTS } from '../components/machine/boot-files.ts';
import { quickly } from '../host/command.ts';
import { BRIDGE_ADDRESS } from '../host/network.ts';
import type { LabContext } from '../scenario.ts';

/** Of the site's web server. */
const PORT = 8080;
const SCRIPT = 'boot.ipxe';

/** What DHCP tells iPXE to run. */
export const NET_BOOT_SCRIPT = `http://${BRIDGE_ADDRESS}:${PORT}/${SCRIPT}`;

/** The ISO's arguments, without the ISO. */
const ARGUMENTS = LIVE_ARGUMENTS.split(' ').filter((each) => !each.startsWith('coreos.liveiso='));

/** As "Installing CoreOS via PXE" has it: the root file system is fetched by the initramfs. */
export const bootScript = (url: string, prefix: string): string => {
  const root = `coreos.live.rootfs_url=${url}/${prefix}-rootfs.img`;
  return `#!ipxe
kernel ${url}/${prefix}-vmlinuz initrd=main initrd=config ${root} rd.neednet=1 ip=dhcp ${ARGUMENTS.join(' ')}
initrd --name main ${url}/${prefix}-initrd.img
initrd --name config ${url}/ignition.img
boot
`;
};

/** Puts what iPXE boots into the folder of a web server: the live ISO's files, and one with this Ignition config. */
export async function serveNetBoot(
  { components, signal }: LabContext,
  { folder, url, ignition }: { folder: string; url: string; ignition: string },
): Promise<void> {
  const installer = join(components.coreosInstaller, 'coreos-installer');
  const live = join(folder, 'live');
  await mkdir(live);
  const iso = join(components.liveIso, LIVE_ISO);
  await quickly(installer, ['iso', 'extract', 'pxe', '--output-dir', live, iso], signal);
  const config = join(folder, 'ignition.img');
  await quickly(installer, ['pxe', 'ignition', 'wrap', '-i', ignition, '-o', config], signal);
  await chmod(config, 0o600);
  const prefix = `live/${basename(LIVE_ISO, '.iso')}`;
  await writeFile(join(folder, SCRIPT), bootScript(url, prefix));
}
