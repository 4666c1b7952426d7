import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';

/** Prometheus' own judge of metrics and alerts, from Debian's package, which is not installed: it would start a server. */
export const promtool: Component = {
  name: 'promtool',
  version: 'bookworm',
  recipe: [import.meta.filename],
  build: async (target, { signal, report }) => {
    report('downloading prometheus');
    const within = { cancelSignal: signal, timeout: 5 * 60_000 };
    const work = join(target, 'package');
    await mkdir(work);
    const asRoot = ['-o', 'APT::Sandbox::User=root'];
    await execa('apt-get', [...asRoot, 'download', 'prometheus'], { ...within, cwd: work });
    const [archive = ''] = await readdir(work);
    await execa('dpkg-deb', ['-x', join(work, archive), join(work, 'tree')], within);
    await copyFile(join(work, 'tree/usr/bin/promtool'), join(target, 'promtool'));
    await rm(work, { recursive: true });
  },
};
