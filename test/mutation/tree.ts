import { cp, glob, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

/** Copies all files that git tracks or would add, with the packages linked: a tree to mutate. */
export async function copyTree(root: string, target: string): Promise<void> {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const { stdout } = await execa('git', listed, { cwd: root, lines: true });
  for (const file of stdout.filter((name) => name !== 'node_modules')) {
    const copy = join(target, file);
    await mkdir(dirname(copy), { recursive: true });
    // Files deleted without a commit are listed too.
    await cp(join(root, file), copy, { force: true }).catch(ignoreMissing);
  }
  await symlink(join(root, 'node_modules'), join(target, 'node_modules'));
}

export async function filesOf(
  root: string,
  patterns: readonly string[],
  excluded: readonly string[] = [],
): Promise<string[]> {
  const found = await Array.fromAsync(glob([...patterns], { cwd: root, exclude: [...excluded] }));
  return found.sort();
}

/** Runs `action` while a file in the tree has different contents. */
export async function withText<T>(
  root: string,
  file: string,
  texts: { readonly meanwhile: string; readonly afterwards: string },
  action: () => Promise<T>,
): Promise<T> {
  await writeFile(join(root, file), texts.meanwhile);
  try {
    return await action();
  } finally {
    await writeFile(join(root, file), texts.afterwards);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
