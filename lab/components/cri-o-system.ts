import { copyFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';
import { crio } from './cri-o.ts';
import { imageOf } from './os-image.ts';
import { rootFilesystem } from './root-filesystem.ts';

const data = join(import.meta.dirname, 'cri-o-system');

/** What CRI-O needs from the operating system, and podman, which has the same images. */
const packages = ['conmon', 'podman', 'jq'];

/** The lab's operating system with CRI-O in place of containerd. */
export const crioRootFilesystem: Component = {
  name: 'cri-o-root-filesystem',
  version: 'bookworm',
  recipe: [import.meta.filename, data],
  needs: [rootFilesystem, crio],
  build: async (target, { signal, report, folderOf }) => {
    const tree = join(target, 'tree');
    const within = { cancelSignal: signal, timeout: 10 * 60_000 };
    await execa('cp', ['-a', join(folderOf(rootFilesystem), 'tree'), tree], within);
    report(`install ${packages.join(' ')}`);
    await install(tree, within);
    await execa('cp', ['-r', '--no-preserve=ownership', `${data}/.`, tree], within);
    const binaries = join(tree, 'usr/local/bin');
    for (const name of ['crio', 'pinns']) {
      await copyFile(join(folderOf(crio), name), join(binaries, name));
    }
    const programs = ['crio', 'pinns', 'lab-runc'];
    await execa('chmod', ['0755', ...programs.map((name) => join(binaries, name))], within);
    const containerd = join(tree, 'etc/systemd/system/containerd.service');
    await rm(containerd, { force: true });
    await symlink('/dev/null', containerd);
  },
};

/** The same on a disk image. */
export const crioOsImage: Component = imageOf('cri-o-os-image', crioRootFilesystem);

/** With this machine's name servers and without starting a service. */
async function install(tree: string, within: { cancelSignal: AbortSignal; timeout: number }) {
  const resolvConf = join(tree, 'etc/resolv.conf');
  await copyFile('/etc/resolv.conf', resolvConf);
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = ['apt-get', '-qq', '-y', '-o', 'Dpkg::Options::=--force-confold'];
  const install = [...apt, 'install', '--no-install-recommends', ...packages];
  for (const command of [[...apt, 'update'], install, ['apt-get', 'clean']]) {
    await execa('chroot', [tree, ...command], { ...within, env });
  }
  await rm(join(tree, 'var/lib/apt/lists'), { recursive: true });
  await rm(resolvConf);
}
