import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

interface Mount {
  /** As the kernel has it: without links on the way. */
  readonly place: string;
  readonly type: string;
}

/** Every mount that this process sees, in the order of mounting. */
export async function mountsOf(paths: Pick<HostPaths, 'at'>): Promise<Mount[]> {
  const text = (await readTextIfPresent(paths.at('/proc/self/mountinfo'))) ?? '';
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const place = fields[4];
    // The type follows the separator of the optional fields (proc_pid_mountinfo(5)).
    const type = fields[fields.indexOf('-') + 1];
    return place === undefined || type === undefined ? [] : [{ place, type }];
  });
}

/** The type of the file system that is mounted there last; undefined if there is none. */
export async function mountedType(
  paths: Pick<HostPaths, 'at'>,
  folder: string,
): Promise<string | undefined> {
  return (await mountsOf(paths)).findLast(({ place }) => place === folder)?.type;
}
