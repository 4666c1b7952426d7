import { execa } from 'execa';
import { exists } from '../host/files.ts';

/** Labels files as programs that services may run. Does nothing where SELinux is off. */
export type LabelPrograms = (paths: readonly string[], signal: AbortSignal) => Promise<void>;

const selinuxFilesystem = '/sys/fs/selinux/enforce';
const labelTimeoutMs = 30_000;

export const labelPrograms: LabelPrograms = async (paths, signal) => {
  if (paths.length === 0 || !(await exists(selinuxFilesystem))) return;
  await execa('chcon', ['-t', 'bin_t', '--', ...paths], {
    cancelSignal: signal,
    timeout: labelTimeoutMs,
    stdin: 'ignore',
  });
};
