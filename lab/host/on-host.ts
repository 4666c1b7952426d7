import { Failure } from '../../lib/base/errors/failure.ts';
import type { Host } from './host.ts';

/** Of a program that ends by itself, on the slowest host. */
const COMMAND_MS = 120_000;

/**
 * What a program that runs on the host as root writes to stdout, without whitespace around it.
 *
 * @throws Failure (fatal) with what it wrote, if it fails
 */
export async function onHost(
  host: Pick<Host, 'exec'>,
  argv: readonly string[],
  signal: AbortSignal,
  timeoutMs = COMMAND_MS,
): Promise<string> {
  const { exitCode, stdout, stderr } = await host.exec(argv, { timeoutMs }, signal);
  if (exitCode === 0) return stdout.trim();
  throw new Failure('fatal', `${argv.join(' ')} failed on the host`, {
    expected: 'exit code 0',
    found: [`exit code ${exitCode}`, stderr.trim().slice(-2000), stdout.trim().slice(-2000)]
      .filter((text) => text !== '')
      .join(' | '),
  });
}

/** Now by the clock of the host, which can be seconds behind on a machine: ISO 8601, as step journals have it. */
export const hostTime = (host: Pick<Host, 'exec'>, signal: AbortSignal): Promise<string> =>
  onHost(host, ['date', '--utc', '+%FT%T.%3NZ'], signal);
