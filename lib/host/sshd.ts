import { run } from './command.ts';
import { pathOf } from './search-path.ts';
import { unitProperties } from './systemd.ts';

const PROGRAM_MS = 30_000;

/** Of CoreOS, Fedora and RHEL; of Debian. Where a socket starts one for each connection, neither is active. */
const UNITS = ['sshd.service', 'ssh.service'] as const;

/**
 * What sshd does when this user logs in, by its own reading of its configuration (`sshd -T`): keywords in lower case, and
 * their values. Undefined on a host without sshd.
 *
 * @throws Failure (retry, `command-failed`) with what sshd finds wrong with its configuration
 */
export async function loginSettings(
  user: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  // Releases before 9.6 refuse to start by a name alone, also for this.
  const sshd = await pathOf('sshd');
  if (sshd === undefined) return undefined;
  const connection = `user=${user},host=localhost,addr=127.0.0.1,laddr=127.0.0.1,lport=22`;
  const text = await run(sshd, ['-T', '-C', connection], { signal, deadlineMs: PROGRAM_MS });
  return new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf(' ');
      return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
}

/** Has a running sshd read its configuration again; open sessions stay. */
export async function reloadSshd(signal: AbortSignal): Promise<void> {
  for (const unit of UNITS) {
    const { ActiveState } = await unitProperties(unit, ['ActiveState'], signal);
    if (ActiveState !== 'active') continue;
    await run('systemctl', ['reload', unit], { signal, deadlineMs: PROGRAM_MS });
    return;
  }
}
