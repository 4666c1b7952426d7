import { Failure } from '../../lib/base/errors/failure.ts';
import type { Host } from '../host/host.ts';

const LIST = ['systemctl', 'list-units', '--failed', '--no-legend', '--plain'];

/** @throws Failure (fatal) if a unit of the host has failed, or its systemd does not say */
export async function expectNoFailedUnit(
  host: Pick<Host, 'exec'>,
  signal: AbortSignal,
): Promise<void> {
  const { exitCode, stdout, stderr } = await host.exec(LIST, { timeoutMs: 20_000 }, signal);
  if (exitCode === 0 && stdout.trim() === '') return;
  throw new Failure('fatal', 'units have failed', { found: `${stdout}${stderr}`.trim() });
}
