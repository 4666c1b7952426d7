import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { run } from '../../lib/host/command.ts';
import { removeFile, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/** Gone with the boot: an address that is taken later must not keep a host from starting with it. */
const DROP_IN = '/run/NetworkManager/conf.d/90-sno-duplicate-addresses.conf';
/** `man NetworkManager.conf`, section CONNECTION SECTION; for IPv6 the kernel asks by itself. */
const TEXT = '[connection]\nipv4.dad-timeout=3000\n';

/**
 * Applies a network in which NetworkManager gives an adapter no IPv4 address that another host answers for: it fails
 * instead. By default it does not ask (before 1.48) or only for a moment.
 */
export async function refusingDuplicates(
  paths: HostPaths,
  limits: Limits,
  apply: () => Promise<void>,
): Promise<void> {
  const path = paths.at(DROP_IN);
  const reload = () => run('nmcli', ['general', 'reload', 'conf'], limits);
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, TEXT, 0o644);
  try {
    await reload();
    await apply();
  } finally {
    await removeFile(path);
    // What has failed before says more.
    await reload().catch(() => undefined);
  }
}
