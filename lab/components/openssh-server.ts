import { join } from 'node:path';
import type { Component } from './component.ts';
import { unpackPackages } from './debian-download.ts';

/** sshd of Debian, not installed: it would start. */
export const opensshServer: Component = {
  name: 'openssh-server',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, 'debian-download.ts')],
  build: (target, context) =>
    unpackPackages(['openssh-server', 'libwrap0'], join(target, 'tree'), context),
};

/** Where it and its library are in its folder. */
export const sshdPaths = (folder: string) => ({
  program: join(folder, 'tree/usr/sbin/sshd'),
  libraries: join(folder, 'tree/usr/lib/x86_64-linux-gnu'),
});
