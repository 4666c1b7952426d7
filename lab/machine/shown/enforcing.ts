import { Failure } from '../../../lib/errors/failure.ts';
import type { AllInOne } from '../../all-in-one.ts';
import { workload } from '../../checks/workload.ts';

const COMMAND_MS = 60_000;
const RENEW_MS = 5 * 60_000;

/**
 * The host boots with SELinux enforcing and is at work: its agents, kubelet and containers get everything that they need,
 * and nothing of theirs is denied to others. `restart` boots it, until its node is ready.
 */
export async function enforcing(run: AllInOne, restart: () => Promise<void>): Promise<void> {
  const { signal } = run.context;
  const output = async (argv: readonly string[], timeoutMs = COMMAND_MS) => {
    const { exitCode, stdout, stderr } = await run.booted.exec(argv, { timeoutMs }, signal);
    if (exitCode === 0) return stdout.trim();
    throw new Failure('fatal', `${argv.join(' ')} failed`, { found: stderr.slice(-500) });
  };
  await output(['sed', '-i', 's/^SELINUX=.*/SELINUX=enforcing/', '/etc/selinux/config']);
  await restart();
  const mode = await output(['getenforce']);
  if (mode !== 'Enforcing') {
    throw new Failure('fatal', 'SELinux does not enforce', { expected: 'Enforcing', found: mode });
  }
  await output(['systemctl', 'start', 'sno-renew.service'], RENEW_MS);
  await run.runChecks([workload], () => undefined, {});
  const journal = await output(['journalctl', '-b', '-k', '-o', 'cat', '--no-pager']);
  const denied = new Set(
    Array.from(journal.matchAll(/denied +(\{.*?\}).*?comm="(.*?)".*?(scontext=.*)/g), (found) =>
      found.slice(1, 4).join(' '),
    ),
  );
  if (denied.size > 0) {
    throw new Failure('fatal', 'SELinux has denied something', { found: [...denied].join('\n') });
  }
}
