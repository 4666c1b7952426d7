import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { BRIDGE_ADDRESS } from '../host/network.ts';
import type { Component } from './component.ts';
import { unpackPackages } from './debian-download.ts';
import { liveIsoOf } from './live-iso.ts';
import { imageOf } from './os-image.ts';
import { rootFilesystem } from './root-filesystem.ts';
import { TPM_LIBRARIES } from './swtpm.ts';

const LIBRARIES = 'usr/lib/x86_64-linux-gnu';
const DROPINS = 'usr/lib/systemd/system/sno-unseal.service.d';

/** The TPM of a lab host is a program at the site, not a device: sno-unseal needs the network for it, here alone. */
const DROPIN = `[Unit]
Wants=network-online.target
After=network-online.target

[Service]
IPAddressAllow=${BRIDGE_ADDRESS}
RestrictAddressFamilies=AF_INET
`;

/** The lab's operating system with the libraries that systemd loads for a TPM. */
export const tpmRootFilesystem: Component = {
  name: 'tpm-root-filesystem',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, 'debian-download.ts')],
  needs: [rootFilesystem],
  build: async (target, context) => {
    const tree = join(target, 'tree');
    const within = { cancelSignal: context.signal, timeout: 5 * 60_000 };
    await execa('cp', ['-a', join(context.folderOf(rootFilesystem), 'tree'), tree], within);
    const packages = join(target, 'packages');
    await mkdir(packages);
    await unpackPackages(TPM_LIBRARIES, packages, context);
    const links = { recursive: true, verbatimSymlinks: true } as const;
    await cp(join(packages, LIBRARIES), join(tree, LIBRARIES), links);
    await mkdir(join(tree, DROPINS));
    await writeFile(join(tree, DROPINS, '10-lab-tpm.conf'), DROPIN, { mode: 0o644 });
  },
};

/** The same on a disk image. */
export const tpmOsImage: Component = imageOf('tpm-os-image', tpmRootFilesystem);

/** A live ISO that installs this image. */
export const tpmLiveIso: Component = liveIsoOf('tpm-live-iso', tpmOsImage);
