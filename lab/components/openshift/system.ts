import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from '../component.ts';
import { crioRootFilesystem } from '../cri-o-system.ts';
import { kubernetes } from '../kubernetes.ts';
import { imageOf } from '../os-image.ts';

const data = join(import.meta.dirname, 'system');

/**
 * The lab's operating system with CRI-O and podman, and with the kubelet, which on CoreOS comes from
 * the node image of the release.
 */
export const openshiftRootFilesystem: Component = {
  name: 'openshift-root-filesystem',
  version: 'bookworm',
  recipe: [import.meta.filename, data],
  needs: [crioRootFilesystem, kubernetes],
  build: async (target, { signal, folderOf }) => {
    const tree = join(target, 'tree');
    const within = { cancelSignal: signal, timeout: 5 * 60_000 };
    await execa('cp', ['-a', join(folderOf(crioRootFilesystem), 'tree'), tree], within);
    await execa('cp', ['-r', '--no-preserve=ownership', `${data}/.`, tree], within);
    await cp(join(folderOf(kubernetes), 'kubelet'), join(tree, 'usr/bin/kubelet'));
    // As on CoreOS: the folder is writable, and on no overlay.
    await rm(join(tree, 'opt'), { recursive: true });
    await mkdir(join(tree, 'var/opt'), { recursive: true });
    await symlink('var/opt', join(tree, 'opt'));
    const programs = ['rpm', 'update-ca-trust'].map((name) => join(tree, 'usr/bin', name));
    await execa('chmod', ['0755', ...programs], within);
  },
};

/** The same on a disk image. */
export const openshiftOsImage: Component = imageOf('openshift-os-image', openshiftRootFilesystem);
