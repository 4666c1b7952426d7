import { once } from 'node:events';
import { connect } from 'node:net';
import { describeError } from '../../lib/base/errors/failure.ts';
import type { SiteCheck } from '../../lib/config/site-config/site-config.ts';
import { run } from '../../lib/host/command.ts';
import { runOutsideSandbox } from '../../lib/host/outside-sandbox.ts';
import { absoluteName } from '../../lib/host/resolv-conf.ts';

const ANSWER_MS = 5_000;

/** What does not answer, and what a technician can do about it. */
export interface FailedCheck {
  readonly found: string;
  readonly fix: string;
}

export interface CheckOptions {
  /** A file with what the host is to trust besides its operating system's certificates. */
  readonly trustBundle: string | undefined;
  readonly signal: AbortSignal;
}

/** The checks of a site whose server does not answer now. All are tried at once, each for some seconds. */
export async function failedChecks(
  checks: readonly SiteCheck[],
  options: CheckOptions,
): Promise<FailedCheck[]> {
  const results = await Promise.all(
    checks.map(async (check) => {
      try {
        await probe(check, options);
        return undefined;
      } catch (error) {
        const { name, fix } = wordsOf(check);
        return { found: `${name}: ${describeError(error)}`, fix };
      }
    }),
  );
  return results.filter((failed) => failed !== undefined);
}

async function probe(check: SiteCheck, { trustBundle, signal }: CheckOptions): Promise<void> {
  const limits = { signal, deadlineMs: 2 * ANSWER_MS };
  switch (check.kind) {
    case 'ping':
      // It needs a raw socket.
      await runOutsideSandbox('ping', ['-c', '1', '-W', '4', check.address], limits);
      return;
    case 'tcp':
      await connected(check, signal);
      return;
    case 'dns':
      await run('getent', ['ahosts', absoluteName(check.name)], limits);
      return;
    case 'https': {
      const get = ['--silent', '--show-error', '--output=/dev/null', '--max-time=5', check.url];
      const curl = (...args: string[]) => run('curl', [...args, ...get], limits);
      if (trustBundle === undefined) await curl();
      else await curl(`--cacert=${trustBundle}`).catch(() => curl());
      return;
    }
  }
}

async function connected(
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  const socket = connect({ host: absoluteName(host), port });
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    await once(socket, 'connect', { signal: either });
  } finally {
    socket.destroy();
  }
}

function wordsOf(check: SiteCheck): { readonly name: string; readonly fix: string } {
  switch (check.kind) {
    case 'ping':
      return {
        name: `no answer to ping from ${check.address}`,
        fix: `Check the cable and the port of the switch, and whether ${check.address} is the right address.`,
      };
    case 'tcp':
      return {
        name: `no answer from ${check.host} port ${check.port}`,
        fix: `Ask the administrator of the site whether this host may reach ${check.host}.`,
      };
    case 'dns':
      return {
        name: `the name ${check.name} is unknown`,
        fix: 'Check the name servers in the site configuration.',
      };
    case 'https':
      return {
        name: `no answer from ${check.url}`,
        fix: `Ask the administrator of the site about ${new URL(check.url).host}.`,
      };
  }
}
