import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { BuildContext } from './component.ts';

/** Unpacks Debian packages into a folder without installing them: some would start a server. */
export async function unpackPackages(
  packages: readonly string[],
  tree: string,
  { signal, report }: Pick<BuildContext, 'signal' | 'report'>,
): Promise<void> {
  report(`downloading ${packages.join(', ')}`);
  const within = { cancelSignal: signal, timeout: 5 * 60_000 };
  const archives = `${tree}.archives`;
  await mkdir(archives, { recursive: true });
  const asRoot = ['-o', 'APT::Sandbox::User=root'];
  await execa('apt-get', [...asRoot, 'download', ...packages], { ...within, cwd: archives });
  for (const name of await readdir(archives)) {
    await execa('dpkg-deb', ['-x', join(archives, name), tree], within);
  }
  await rm(archives, { recursive: true });
}
