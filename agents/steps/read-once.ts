import { readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readOncePaths, withReadOnce } from '../../lib/render/kubernetes/read-once.ts';
import type { StaticPod } from '../../lib/render/renderer.ts';

/**
 * The manifest of a component with the annotation for the files that are on the host now; the same text
 * if it has it.
 */
export async function withPresentFiles(
  paths: HostPaths,
  pod: Pick<StaticPod, 'component' | 'manifest'>,
): Promise<string> {
  const contents = new Map<string, string>();
  for (const path of readOncePaths(pod.component)) {
    const text = await readTextIfPresent(paths.at(path));
    if (text !== undefined) contents.set(path, text);
  }
  return withReadOnce(pod, contents);
}
