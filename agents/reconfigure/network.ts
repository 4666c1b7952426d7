import { join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { waitUntil } from '../../lib/base/wait/wait-until.ts';
import { reconfigureFolder } from '../../lib/change/site/places.ts';
import { networkAfter } from '../../lib/config/site-config/name-servers.ts';
import { siteDomain } from '../../lib/config/site-config/site-config.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../lib/host/files.ts';
import { BRIDGE } from '../../lib/host/internal-bridge.ts';
import { runOutsideSandbox } from '../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { resolvConfForPods } from '../../lib/host/resolv-conf.ts';
import { internalAddresses, readFactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { networkConfigPath } from '../../lib/render/machine-config/machine-config.ts';
import { missingOnBridge } from '../steps/relocatable/internal-address.ts';
import { requireAnyCable, requireCables } from './cables.ts';
import type { ReconfigureContext } from './context.ts';
import { refusingDuplicates } from './duplicates.ts';
import { defaultGateways, silentNeighbours } from './neighbours.ts';
import type { SiteStep } from './or-back.ts';
import { type FailedCheck, failedChecks } from './site-checks.ts';

/** After which NetworkManager itself goes back, if this process is gone. */
const ROLLBACK_SECONDS = 180;
const APPLY_MS = 120_000;
const PAUSE_MS = 3_000;

/**
 * The network of the site. First only in memory, with a deadline of NetworkManager's own: if the site's servers do not
 * answer, or this host loses power, the earlier network is in use again. Once they answer, the new one is kept.
 */
export const siteNetwork: SiteStep = {
  name: 'network',
  leaves: "the site's network, over which its servers answer",
  touches: ['disk', 'network'],
  neededUntil: 'start',
  holds: async (context) => (await isKept(context)) && (await wrong(context)).length === 0,
  async run(context, progress) {
    if (context.site.networkConfig === undefined) {
      await answered(context, progress).catch(async (error: unknown) => {
        progress.signal.throwIfAborted();
        await requireAnyCable(context);
        throw error;
      });
      return done('as it was');
    }
    await requireCables(context);
    await keepNetwork(context, context.site.networkConfig, progress);
    return done();
  },
};

/** Whether NetworkManager keeps the network of the site, or the site has none of its own. */
export async function isKept(context: ReconfigureContext): Promise<boolean> {
  const { networkConfig } = context.site;
  if (networkConfig === undefined) return true;
  return (await readTextIfPresent(appliedPath(context))) === networkConfig;
}

/**
 * Tries the network in memory, and keeps it once the site answers over it.
 *
 * @throws Failure (fatal) with what does not answer, or why it cannot be applied; then NetworkManager has gone back
 */
export async function keepNetwork(
  context: ReconfigureContext,
  networkConfig: string,
  progress: Progress,
  nameServers?: AskedNameServers,
): Promise<void> {
  const { paths } = context;
  const file = join(reconfigureFolder(paths), 'network.yml');
  await writeFileAtomic(file, networkConfig, 0o600);
  const limits = { signal: progress.signal, deadlineMs: APPLY_MS };
  const trial = ['--no-commit', '--memory-only', `--timeout=${ROLLBACK_SECONDS}`];
  // Of an earlier attempt: there can be one only.
  await nmstate(['rollback'], limits).catch(() => undefined);
  await refusingDuplicates(paths, limits, () => nmstate(['apply', ...trial, file], limits));
  try {
    await answered(context, progress, nameServers);
  } catch (error) {
    await nmstate(['rollback'], limits).catch(() => undefined);
    throw error;
  }
  await nmstate(['commit'], limits);
  await nmstate(['apply', file], limits);
  // An all-in-one host applies it again at each boot.
  const ofBoot = await readTextIfPresent(paths.at(networkConfigPath));
  if (ofBoot !== undefined) {
    const next = networkAfter(ofBoot, networkConfig);
    await writeFileAtomic(paths.at(networkConfigPath), next, 0o600);
  }
  await removeFile(file);
  // Last: whoever is killed before does all of it again.
  await writeFileAtomic(appliedPath(context), networkConfig, 0o600);
}

const appliedPath = ({ paths }: ReconfigureContext): string =>
  join(reconfigureFolder(paths), 'applied-network.yml');

async function nmstate(args: readonly string[], limits: Limits): Promise<void> {
  try {
    // It reads the kernel's settings of devices, which the agent's sandbox denies.
    await runOutsideSandbox('nmstatectl', args, limits);
  } catch (cause) {
    throw new Failure('fatal', "the site's network cannot be applied", {
      code: 'site-network',
      found: describeError(cause),
      fix: 'Correct raw_nm_state_config, or dns, in the site configuration.',
      cause,
      tellsCause: true,
    });
  }
}

/** Waits until the site answers as it says. @throws Failure (fatal, site-check) with what does not */
export async function answered(
  context: ReconfigureContext,
  progress: Progress,
  nameServers?: AskedNameServers,
): Promise<void> {
  let faults: readonly FailedCheck[] = [];
  const answers = async () => {
    faults = await wrong(context, nameServers);
    const [first] = faults;
    return first === undefined ? { met: undefined } : { state: first.found };
  };
  await waitUntil(answers, {
    signal: progress.signal,
    deadlineMs: Math.min(context.settings.reconfigureAnswersMs, progress.remainingMs()),
    everyMs: PAUSE_MS,
    report: (state) => progress.waitingFor(`the site to answer: ${state}`),
    late: () =>
      new Failure('fatal', 'the site does not answer as its configuration says', {
        code: 'site-check',
        found: faults.map(({ found }) => found).join('; '),
        fix: faults[0]?.fix,
      }),
  });
}

/** The trust of the site is given to the host after its network: the checks need it before. */
async function bundleFile({ paths, site }: ReconfigureContext): Promise<string | undefined> {
  if (site.additionalTrustBundle === undefined) return undefined;
  const file = join(reconfigureFolder(paths), 'trust-bundle.pem');
  await writeFileAtomic(file, site.additionalTrustBundle, 0o644);
  return file;
}

/** The file with the name servers of the host's network, on the host. */
export type AskedNameServers = (paths: HostPaths) => Promise<string>;

/** Everything that differs from what the site says: name servers, the internal address, the answers of servers. */
export async function wrong(
  context: ReconfigureContext,
  nameServers: AskedNameServers = resolvConfForPods,
): Promise<FailedCheck[]> {
  const { paths, site } = context;
  const faults: FailedCheck[] = [];
  const signal = AbortSignal.timeout(PAUSE_MS * 10);
  const policy = await readFactoryPolicy(paths);
  const wanted = policy === undefined ? [] : internalAddresses(policy);
  for (const address of await missingOnBridge(wanted, signal)) {
    faults.push({
      found: `${BRIDGE} does not have the address ${address}`,
      fix: 'Call the factory: the node has lost its internal address.',
    });
  }
  const file = await nameServers(paths);
  const text = (await readTextIfPresent(paths.at(file))) ?? '';
  const words = (key: string) =>
    [...text.matchAll(new RegExp(`^${key}[ \\t]+(.*)$`, 'gm'))].flatMap(([, rest = '']) =>
      rest.trim().split(/\s+/),
    );
  const servers = words('nameserver');
  const missing = [
    ...site.dns.servers.filter((server) => !servers.includes(server)),
    ...site.dns.search.filter((domain) => !words('search').includes(domain)),
  ];
  if (missing.length > 0) {
    faults.push({
      found: `${file} does not name ${missing.join(', ')}`,
      fix: 'Correct dns in the site configuration.',
    });
  }
  return [...faults, ...(await silentServers(context, servers, signal))];
}

/** What must answer by the site's configuration; if that names nothing, the servers of its network. */
async function silentServers(
  context: ReconfigureContext,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<FailedCheck[]> {
  const { site } = context;
  if (site.siteChecks.length > 0) {
    const trustBundle = await bundleFile(context);
    return failedChecks(site.siteChecks, { trustBundle, signal });
  }
  const gateways = await defaultGateways(signal);
  // A name server on the host itself says nothing about the site.
  const nameServers = servers.filter((server) => !/^(127\.|::1$)/.test(server));
  return silentNeighbours({ gateways, nameServers }, `api.${siteDomain(site)}`, signal);
}
