import { appendFile, copyFile, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from '../component.ts';
import { rootFilesystem } from '../root-filesystem.ts';
import { initramfsIn, installKernel } from './kernel.ts';
import { installInTree, runInTree, treeRecipe } from './tree.ts';

const data = join(import.meta.dirname, 'system');
const policy = join(import.meta.dirname, 'system-policy.cil');

/** What CoreOS has and a container of the lab does without. */
const packages = [
  ...['dracut', 'dracut-network', 'ignition', 'zstd', 'cpio', 'dosfstools', 'fdisk', 'gdisk'],
  ...['chrony', 'efibootmgr', 'lvm2', 'mdadm', 'multipath-tools', 'kpartx', 'tpm2-tools'],
  ...['libtss2-tcti-device0', 'selinux-policy-default', 'policycoreutils', 'selinux-utils'],
  // An update of the operating system looks at the policy in a sandbox.
  ...['qemu-guest-agent', 'ostree', 'ostree-boot', 'bubblewrap'],
];

/** What stands in for a machine's devices in systemd-nspawn, and start scripts that have units. */
const notOnMachines = [
  'etc/systemd/system/lab-devices.service',
  'usr/local/libexec',
  'usr/local/sbin/udevadm',
  'etc/init.d',
  'var/lib/dpkg/info',
];

/** Folders that CoreOS has below /var, since / and /usr cannot be written. */
const movedToVar: Readonly<Record<string, string>> = {
  home: 'var/home',
  mnt: 'var/mnt',
  opt: 'var/opt',
  root: 'var/roothome',
  srv: 'var/srv',
  'usr/local': '../var/usrlocal',
};

/** Of the policy. */
const SELINUX = 'etc/selinux/default';
/** The contexts that it gives to files. */
export const FILE_CONTEXTS = `${SELINUX}/contexts/files/file_contexts`;

/**
 * The operating system of the lab's machines: that of its containers with a kernel, an initramfs
 * with Ignition, SELinux, ostree and an agent for qemu. In the layout of CoreOS: everything that is
 * written is in /etc and /var. A live system is this tree, an installed one a deployment of it.
 */
export const machineSystem: Component = {
  name: 'machine-system',
  version: 'bookworm',
  recipe: [
    import.meta.filename,
    join(import.meta.dirname, 'kernel.ts'),
    ...treeRecipe,
    data,
    policy,
  ],
  needs: [rootFilesystem],
  build: async (target, context) => {
    const { signal, report, folderOf } = context;
    const tree = join(target, 'tree');
    const within = { cancelSignal: signal, timeout: 5 * 60_000 };
    await execa('cp', ['-a', join(folderOf(rootFilesystem), 'tree'), tree], within);
    report(`install ${packages.join(' ')}`);
    await installInTree(tree, packages, signal);
    for (const path of notOnMachines) await rm(join(tree, path), { recursive: true });
    const version = await installKernel(tree, target, context);
    await execa('cp', ['-r', '--no-preserve=ownership', `${data}/.`, tree], within);
    await moveToVar(tree);
    await mkdir(join(tree, 'sysroot'));
    await symlink('sysroot/ostree', join(tree, 'ostree'));
    report('make the initramfs');
    await makeInitramfs(tree, version, signal);
    await forget(tree);
    report('label the files');
    await labelFiles(tree, signal);
  },
};

async function moveToVar(tree: string): Promise<void> {
  for (const [path, moved] of Object.entries(movedToVar)) {
    await rm(join(tree, path), { recursive: true });
    await symlink(moved, join(tree, path));
  }
  // With the modes of the agents' folders on CoreOS; tmpfiles.d/machine.conf makes them again.
  for (const name of ['home', 'mnt', 'opt', 'srv', 'usrlocal/bin', 'usrlocal/sbin']) {
    await mkdir(join(tree, 'var', name), { recursive: true });
  }
  await mkdir(join(tree, 'var/roothome'), { mode: 0o700 });
}

/** With nothing of this machine: every device that a machine of the lab may have is in it. */
async function makeInitramfs(tree: string, version: string, signal: AbortSignal): Promise<void> {
  const modules = ['bash', 'systemd', 'systemd-initrd', 'systemd-udevd', 'systemd-tmpfiles'];
  const more = ['dracut-systemd', 'base', 'fs-lib', 'udev-rules', 'rootfs-block', 'shutdown'];
  const ours = ['network', 'network-manager', 'url-lib', 'ignition', 'ostree', 'sno-lab'];
  const options = ['--no-hostonly', '--no-early-microcode', '--no-hostonly-cmdline', '--force'];
  const command = [
    ...['dracut', ...options, '--reproducible', '--compress', 'zstd -6 -T0'],
    ...['--modules', [...modules, ...more, ...ours].join(' '), '--kver', version],
    initramfsIn('/', version),
  ];
  await runInTree(tree, command, signal);
}

/** Removes what would make every machine of this image the same one. */
async function forget(tree: string): Promise<void> {
  await rm(join(tree, 'etc/hostname'), { force: true });
  for (const name of await readdir(join(tree, 'etc/systemd/system/multi-user.target.wants'))) {
    // Enabled by preset at the first boot, as everything else.
    await rm(join(tree, 'etc/systemd/system/multi-user.target.wants', name));
  }
}

/**
 * Adds the lab's rules to the policy, and writes the labels of the files as their attributes. The modules of the policy
 * are in /etc, as on CoreOS: an update of the operating system asks whether they have changed.
 */
async function labelFiles(tree: string, signal: AbortSignal): Promise<void> {
  const moved = Object.entries(movedToVar).map(([path, to]) => {
    return `/${to.replace('../', '')} /${path}\n`;
  });
  await appendFile(join(tree, `${FILE_CONTEXTS}.subs_dist`), moved.join(''));
  await appendFile(join(tree, 'etc/selinux/semanage.conf'), 'store-root = /etc/selinux\n');
  await rename(join(tree, 'var/lib/selinux/default/active'), join(tree, SELINUX, 'active'));
  await copyFile(policy, join(tree, 'usr/share/selinux/sno-lab.cil'));
  await runInTree(tree, ['semodule', '-n', '-i', '/usr/share/selinux/sno-lab.cil'], signal);
  for (const path of ['usr/share/selinux', 'var/lib/selinux']) {
    await rm(join(tree, path), { recursive: true });
  }
  await runInTree(tree, ['setfiles', '-F', `/${FILE_CONTEXTS}`, '/'], signal);
}
