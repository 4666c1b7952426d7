import { chmod, copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';
import { CONTAINERD_PROGRAMS, containerd, debianContainerd } from './containerd.ts';
import { coreosInstaller } from './coreos-installer.ts';
import { debianBase } from './debian-base.ts';

const data = join(import.meta.dirname, 'root-filesystem');

/** Units that prompt on the console, phone home, or have nothing to do on such a host. */
const masked = [
  'systemd-firstboot.service',
  'console-getty.service',
  'getty@tty1.service',
  'getty.target',
  'systemd-networkd.service',
  'systemd-networkd.socket',
  'systemd-networkd-wait-online.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'fstrim.timer',
  'systemd-pstore.service',
];

/**
 * The operating system of the lab's hosts, both of the live image and on the disk:
 * Debian plus what its vendor would configure, with a current containerd. It has no
 * Kubernetes binary, no container image, no agent and no key.
 */
export const rootFilesystem: Component = {
  name: 'root-filesystem',
  version: 'bookworm',
  recipe: [import.meta.filename, data],
  needs: [debianBase, coreosInstaller, containerd],
  build: async (target, { signal, folderOf }) => {
    const tree = join(target, 'tree');
    const within = { cancelSignal: signal, timeout: 5 * 60_000 };
    await execa('cp', ['-a', join(folderOf(debianBase), 'tree'), tree], within);
    await execa('cp', ['-r', '--no-preserve=ownership', `${data}/.`, tree], within);
    // Under its own name is a script that knows where this system has its image.
    await addPrograms(tree, folderOf(coreosInstaller), ['coreos-installer'], 'usr/libexec');
    await addPrograms(tree, folderOf(containerd), CONTAINERD_PROGRAMS);
    for (const unit of masked) await mask(tree, unit);
    const preset = masked.map((unit) => `disable ${unit}\n`).join('');
    // systemd gives up all presets when one of them would enable a masked unit.
    await writeFile(join(tree, 'etc/systemd/system-preset/00-masked.preset'), preset);
    await anonymise(tree);
  },
};

/** The same with the containerd of Debian 12, for as long as a supported version of Kubernetes takes it. */
export const debianRuntimeRootFilesystem: Component = {
  name: 'debian-runtime-root-filesystem',
  version: 'bookworm',
  recipe: [import.meta.filename],
  needs: [rootFilesystem, debianContainerd],
  build: async (target, { signal, folderOf }) => {
    const tree = join(target, 'tree');
    const within = { cancelSignal: signal, timeout: 5 * 60_000 };
    await execa('cp', ['-a', join(folderOf(rootFilesystem), 'tree'), tree], within);
    await addPrograms(tree, folderOf(debianContainerd), CONTAINERD_PROGRAMS);
  },
};

/** In place of the system's own. */
async function addPrograms(
  tree: string,
  from: string,
  names: readonly string[],
  folder = 'usr/bin',
): Promise<void> {
  for (const name of names) {
    const path = join(tree, folder, name);
    await copyFile(join(from, name), path);
    await chmod(path, 0o755);
  }
}

async function mask(tree: string, unit: string): Promise<void> {
  const path = join(tree, 'etc/systemd/system', unit);
  await rm(path, { force: true });
  await symlink('/dev/null', path);
}

/** Removes what would make every host of this image the same one, or this machine. */
async function anonymise(tree: string): Promise<void> {
  await rm(join(tree, 'etc/hostname'), { force: true });
  await rm(join(tree, 'etc/resolv.conf'), { force: true });
  // systemd would take the machine id from here.
  await rm(join(tree, 'var/lib/dbus/machine-id'), { force: true });
  // Tells systemd that this is the first boot: units are then enabled by preset,
  // which is how Ignition enables them.
  await writeFile(join(tree, 'etc/machine-id'), 'uninitialized\n');
  await mkdir(join(tree, 'var/log/journal'), { recursive: true });
  await mkdir(join(tree, 'boot'), { recursive: true });
}
