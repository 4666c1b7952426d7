import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hostPaths } from '../../../lib/host/paths.ts';

/** A temporary root with a host's files, deleted at the end of the test. */
export async function hostRoot(
  t: { teardown(act: () => Promise<void>): void },
  files: Readonly<Record<string, string | Uint8Array>>,
) {
  const root = await mkdtemp(join(tmpdir(), 'host-secrets-'));
  t.teardown(() => rm(root, { recursive: true }));
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), contents, { mode: 0o600 });
  }
  return { paths: hostPaths(root) };
}
