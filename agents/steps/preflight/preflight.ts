import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { Cluster, InstallableCluster } from '../../../lib/config/cluster/cluster.ts';
import { done, type Outcome } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { addressByFamily, hostAddresses } from '../../../lib/host/network.ts';
import type { PlainHost } from '../host-context.ts';
import { REQUEST_DEADLINE_MS } from '../request-deadline.ts';
import { bad, type Check, type CheckInput, type PreflightFinding, warningOnly } from './check.ts';
import { dnsChecks, dnsSearchCheck } from './dns.ts';
import { addressCheck, hostnameCheck } from './identity.ts';
import {
  clockCheck,
  cpusCheck,
  diskCheck,
  diskLabelsCheck,
  memoryCheck,
  ownDiskCheck,
  workerClockCheck,
} from './machine.ts';
import { networkCheck } from './network.ts';
import { networkPluginsCheck } from './network-plugins.ts';
import { platformCheck } from './platform.ts';
import { liveSealCheck, sealCheck } from './seal.ts';

/** Of a live host, before the disk that it will write is changed. */
export const liveChecks: readonly Check<InstallableCluster>[] = [
  networkCheck,
  hostnameCheck,
  addressCheck,
  ...dnsChecks,
  dnsSearchCheck,
  clockCheck,
  memoryCheck,
  cpusCheck,
  networkPluginsCheck,
  platformCheck,
  diskCheck,
  diskLabelsCheck,
  liveSealCheck,
];

/** Of a host that bootstraps in memory on the disk that it runs from. */
export const inPlaceChecks: readonly Check[] = [
  networkCheck,
  hostnameCheck,
  addressCheck,
  ...dnsChecks.map(warningOnly),
  dnsSearchCheck,
  clockCheck,
  memoryCheck,
  cpusCheck,
  networkPluginsCheck,
  platformCheck,
  ownDiskCheck,
];

/** Of an all-in-one host, which runs from its disk. */
export const aioChecks: readonly Check[] = [...inPlaceChecks, sealCheck];

/** Of a worker, which runs from its disk and has no control plane. */
export const workerChecks: readonly Check[] = [
  hostnameCheck,
  addressCheck,
  dnsSearchCheck,
  workerClockCheck,
  networkPluginsCheck,
  platformCheck,
  ownDiskCheck,
];

/**
 * Checks everything that would make the installation fail an hour later. All checks run, so
 * that one visit to the site fixes all problems; a check named in the cluster's
 * `preflightWarnings` only warns. The network may still be starting, so failed checks are
 * repeated until the deadline.
 */
export const preflight = <Described extends Cluster>(
  checks: readonly Check<Described>[],
): StepBody<PlainHost & { readonly cluster: Described }> => ({
  name: 'preflight',
  leaves: 'a host that meets the requirements of the installation',
  touches: ['disk', 'network', 'clock'],
  retries: true,
  input: ({ cluster }) => cluster,
  holds: async () => true,
  async run({ paths, settings, cluster, hostname }, progress): Promise<Outcome> {
    const found = await hostAddresses(progress.signal);
    const input: CheckInput<Described> = {
      paths,
      settings,
      cluster,
      hostname: hostname(),
      addresses: addressByFamily(found, cluster.machineNetwork),
      signal: AbortSignal.any([progress.signal, AbortSignal.timeout(REQUEST_DEADLINE_MS)]),
    };
    const findings = await Promise.all(checks.map((check) => runCheck(check, input)));
    const problems = findings.flatMap(({ check, finding }) =>
      finding.ok || isWarning(check, cluster) ? [] : [{ check, finding }],
    );
    if (problems.length === 0) {
      for (const { check, finding } of findings) {
        if (finding.ok) {
          progress.say(`Checked ${check.name}: ${finding.fact}`);
          for (const notice of finding.notices ?? []) progress.warn(`${notice}.`);
        } else progress.warn(`Check ${check.name} failed: ${finding.problem}. ${finding.fix}`);
      }
    }
    if (problems.length === 0) return done(`${findings.length} checks`);
    throw new Failure('retry', `${problems.length} of ${findings.length} checks failed`, {
      code: 'preflight',
      found: problems
        .map(({ check, finding }) => `${check.name}: ${finding.problem}. ${finding.fix}`)
        .join(' '),
      parts: problems.map(
        ({ check: { code }, finding: { problem, fix, subject } }) =>
          new Failure('retry', problem, { code, subject, fix }),
      ),
      fix: 'To turn a check into a warning, list it in bootstrapInPlace.preflightWarnings in install-config.yaml.',
    });
  },
});

const isWarning = ({ name, onlyWarns }: Pick<Check, 'name' | 'onlyWarns'>, cluster: Cluster) =>
  onlyWarns === true || cluster.preflightWarnings.some((each) => each === name);

async function runCheck<Described extends Cluster>(
  check: Check<Described>,
  input: CheckInput<Described>,
): Promise<{ check: Check<Described>; finding: PreflightFinding }> {
  try {
    return { check, finding: await check.run(input) };
  } catch (error) {
    return {
      check,
      finding: bad(
        `the check itself failed: ${describeError(error)}`,
        'Fix what the message names, or see "journalctl -u bootkube".',
      ),
    };
  }
}
