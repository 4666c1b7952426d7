import { join } from 'node:path';
import { urlHost } from '../../lib/base/network/address.ts';
import { run } from '../../lib/host/command.ts';
import { patient } from '../patience.ts';
import { DOMAIN } from '../site.ts';
import type { RunningCluster } from './check.ts';

const REQUEST_S = 20;
const COMMAND_MS = 60_000;

/** Runs kubectl outside the host, like an administrator on the same network. */
export function kubectl(
  {
    host,
    kubeconfig,
    kubernetes,
    domain = DOMAIN,
  }: Pick<RunningCluster, 'host' | 'kubeconfig' | 'kubernetes' | 'domain'>,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  // By address, with the certificate's name: the lab does not use the site's DNS.
  const server = [
    `--server=https://${urlHost(host.identity.addresses[0])}:6443`,
    `--tls-server-name=api.${domain}`,
  ];
  const from = [
    `--kubeconfig=${kubeconfig}`,
    ...server,
    `--request-timeout=${patient(REQUEST_S)}s`,
  ];
  return run(join(kubernetes, 'kubectl'), [...from, ...args.map(patientOption)], {
    signal,
    deadlineMs: patient(COMMAND_MS),
  });
}

/** What kubectl itself waits for is a deadline of the lab too. */
const patientOption = (argument: string): string =>
  argument.replace(
    /^--timeout=(\d+)s$/,
    (_, seconds: string) => `--timeout=${patient(Number(seconds))}s`,
  );
