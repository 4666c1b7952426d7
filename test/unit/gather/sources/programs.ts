import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Puts small shell programs first in PATH until the test ends. */
export async function withPrograms(
  test: { teardown(undo: () => void): unknown },
  folder: string,
  programs: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before ?? ''}`;
  test.teardown(() => {
    process.env.PATH = before;
  });
}
