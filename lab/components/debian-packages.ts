import { execa } from 'execa';
import type { MachineKind } from '../machine-kind.ts';

/** Programs that the lab runs, with their Debian packages. */
const programs: Readonly<Record<string, string>> = {
  'systemd-nspawn': 'systemd-container',
  debootstrap: 'debootstrap',
  sgdisk: 'gdisk',
  sfdisk: 'fdisk',
  partx: 'util-linux',
  losetup: 'mount',
  mke2fs: 'e2fsprogs',
  dnsmasq: 'dnsmasq-base',
  ip: 'iproute2',
  busybox: 'busybox-static',
  zstd: 'zstd',
  perl: 'perl-base',
  gcc: 'gcc',
  'pkg-config': 'pkg-config',
  'ignition-validate': 'ignition',
  xorriso: 'xorriso',
  bsdtar: 'libarchive-tools',
  mformat: 'mtools',
  fuseiso: 'fuseiso',
  faketime: 'faketime',
  efibootmgr: 'efibootmgr',
  skopeo: 'skopeo',
};

/** Programs of the lab's machines, with their Debian packages. */
const machinePrograms: Readonly<Record<string, string>> = {
  'qemu-system-x86_64': 'qemu-system-x86',
  nbdkit: 'nbdkit',
  sshfs: 'sshfs',
  socat: 'socat',
};

/** Of machines: the firmware, and the server of a guest's files, which the lab brings into the guest. */
const machinesWithoutPrograms = ['ovmf', 'seabios', 'openssh-sftp-server'];

/** Libraries that coreos-installer is built against, and the live ISO's boot loader. */
const withoutPrograms = ['libc6-dev', 'libssl-dev', 'libzstd-dev', 'liblzma-dev', 'isolinux'];

/** What the lab cannot install by itself. */
const toolchains: Readonly<Record<string, string>> = {
  go: 'Go 1.26.6 or newer (https://go.dev/dl)',
  cargo: 'a Rust toolchain (https://rustup.rs)',
};

async function isOnPath(program: string): Promise<boolean> {
  const path = `${process.env.PATH}:/usr/sbin:/sbin`;
  const found = await execa('which', [program], { reject: false, env: { PATH: path } });
  return found.exitCode === 0;
}

async function isInstalled(debianPackage: string): Promise<boolean> {
  const status = ['-W', '-f', '$' + '{Status}', debianPackage];
  const { stdout } = await execa('dpkg-query', status, { reject: false });
  return stdout === 'install ok installed';
}

/** Debian packages that the lab needs for such hosts and that are not installed. */
export async function missingPackages(machine: MachineKind = 'container'): Promise<string[]> {
  const missing = new Set<string>();
  const needed = machine === 'container' ? programs : { ...programs, ...machinePrograms };
  for (const [program, debianPackage] of Object.entries(needed)) {
    if (!(await isOnPath(program))) missing.add(debianPackage);
  }
  const further = machine === 'container' ? [] : machinesWithoutPrograms;
  for (const name of [...withoutPrograms, ...further])
    if (!(await isInstalled(name))) missing.add(name);
  return [...missing].sort();
}

/** One line for each missing prerequisite of the lab; empty if it can run here. */
export async function missingPrerequisites(): Promise<string[]> {
  const missing: string[] = [];
  if (process.getuid?.() !== 0) missing.push('root: the lab mounts file systems and boots hosts');
  if (process.arch !== 'x64') missing.push(`an x86-64 machine (this one is ${process.arch})`);
  if (!(await isOnPath('apt-get'))) missing.push('Debian 12 or its like, with apt-get');
  for (const [program, name] of Object.entries(toolchains)) {
    if (!(await isOnPath(program))) missing.push(name);
  }
  return missing;
}

/** Installs Debian packages after updating the package lists. */
export async function installPackages(
  packages: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const within = {
    cancelSignal: signal,
    timeout: 10 * 60_000,
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  };
  await execa('apt-get', ['update', '-qq'], within);
  await execa('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], within);
}
