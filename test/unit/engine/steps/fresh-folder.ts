import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/**
 * An empty folder until the test ends, for what is interrupted: on the file system of temporary files, where the effects that a
 * power cut takes back are kept.
 */
export function freshFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sno-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
