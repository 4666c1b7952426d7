/**
 * `npm run test:reproducible`: builds everything of `npm run build` in two copies of this
 * checkout, at paths of different length and without a network, and compares the bytes; a
 * minute or two. The last line printed is `N passed, N failed, N skipped`.
 */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { fileDigest } from '../../build/digest.ts';

const DEADLINE_MS = 10 * 60_000;
const EXECUTABLES = ['dist/bin/sno-agents', 'dist/bin/sno'];
const root = join(import.meta.dirname, '..', '..');
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Copies all files that git tracks or would add, and the packages as hard links. */
async function copyCheckout(to: string, signal: AbortSignal): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const { stdout } = await execa('git', list, { cwd: root, cancelSignal: signal });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await cp(join(root, file), join(to, file));
  }
  const links = ['-al', join(root, 'node_modules'), join(to, 'node_modules')];
  await execa('cp', links, { cancelSignal: signal });
}

async function buildOffline(checkout: string, signal: AbortSignal): Promise<void> {
  const build = ['npm', 'run', 'build'];
  await execa('unshare', ['--map-root-user', '--net', ...build], {
    cwd: checkout,
    cancelSignal: signal,
  });
}

async function main(): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  await mkdir(join(root, 'dist'), { recursive: true });
  // In the checkout: hard links need the same file system.
  const folder = await mkdtemp(join(root, 'dist', 'reproducible-'));
  let failed = 0;
  try {
    const copies = [join(folder, 'a'), join(folder, 'another', 'and', 'longer', 'path')];
    for (const copy of copies) {
      await copyCheckout(copy, signal);
      await buildOffline(copy, signal);
    }
    for (const name of EXECUTABLES) {
      const digests = await Promise.all(
        copies.map((copy) => fileDigest(join(copy, name), 'sha256', 'hex')),
      );
      const isSame = new Set(digests).size === 1;
      if (!isSame) failed += 1;
      print(`  ${isSame ? 'ok   ' : 'FAIL '} ${name} ${digests.join(' ')}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  print(`${EXECUTABLES.length - failed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
