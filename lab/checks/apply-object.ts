import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Applies one object from a file, as an administrator does. */
export async function applyObject(
  cluster: RunningCluster,
  object: NamedObject,
  signal: AbortSignal,
  /** Options of kubectl, such as another user. */
  options: readonly string[] = [],
): Promise<void> {
  const manifest = join(cluster.folder, `${object.kind}-${object.metadata.name}.json`);
  await writeFile(manifest, JSON.stringify(object));
  await kubectl(cluster, ['apply', '-f', manifest, ...options], signal);
}
