import { copyFile, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { cniPlugins } from '../cni-plugins.ts';
import type { Component } from '../component.ts';
import { crioRootFilesystem } from '../cri-o-system.ts';
import { imageOf } from '../os-image.ts';
import { openshiftKubernetes } from './kubernetes.ts';

const data = join(import.meta.dirname, 'system');

/** Of the pod network that stands in for the network operator's. */
const plugins = ['bridge', 'host-local', 'loopback'];

/**
 * The lab's operating system with CRI-O and podman, and with the kubelet, which on CoreOS comes from
 * the node image of the release. Its pod network exists from the first boot: there is no network
 * operator.
 */
export const openshiftRootFilesystem: Component = {
  name: 'openshift-root-filesystem',
  version: 'bookworm',
  recipe: [import.meta.filename, data],
  needs: [crioRootFilesystem, openshiftKubernetes, cniPlugins],
  build: async (target, { signal, folderOf }) => {
    const tree = join(target, 'tree');
    const within = { cancelSignal: signal, timeout: 5 * 60_000 };
    await execa('cp', ['-a', join(folderOf(crioRootFilesystem), 'tree'), tree], within);
    await execa('cp', ['-r', '--no-preserve=ownership', `${data}/.`, tree], within);
    const kubelet = join(tree, 'usr/bin/kubelet');
    await copyFile(join(folderOf(openshiftKubernetes), 'kubelet'), kubelet);
    // As on CoreOS: the folder is writable, and on no overlay.
    await rm(join(tree, 'opt'), { recursive: true });
    await mkdir(join(tree, 'var/opt'), { recursive: true });
    await symlink('var/opt', join(tree, 'opt'));
    const cni = join(tree, 'var/opt/cni/bin');
    await mkdir(cni, { recursive: true });
    for (const name of plugins) {
      await copyFile(join(folderOf(cniPlugins), name), join(cni, name));
    }
    const scripts = ['rpm', 'update-ca-trust', 'kubensenter'];
    const programs = [kubelet, ...scripts.map((name) => join(tree, 'usr/bin', name))];
    await execa('chmod', ['0755', ...programs], within);
  },
};

/** The same on a disk image. */
export const openshiftOsImage: Component = imageOf('openshift-os-image', openshiftRootFilesystem);
