import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/** The type of the file system that is mounted there last; undefined if there is none. */
export async function mountedType(paths: HostPaths, folder: string): Promise<string | undefined> {
  const text = (await readTextIfPresent(paths.at('/proc/self/mountinfo'))) ?? '';
  const mounts = text.split('\n').map((line) => line.split(' '));
  const fields = mounts.findLast(([, , , , place]) => place === folder);
  // The type follows the separator of the optional fields (proc_pid_mountinfo(5)).
  return fields?.[fields.indexOf('-') + 1];
}
