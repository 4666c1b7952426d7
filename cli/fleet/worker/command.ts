import { type Command, Option } from 'commander';
import { parseDuration } from '../../../lib/base/duration.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { requireIsoPrograms } from '../../iso/programs.ts';
import type { Surroundings } from '../../surroundings.ts';
import { type HubOptions, workersAccess } from './access.ts';
import { chosenSite } from './choose.ts';
import { collectSite, withdrawSite } from './collect.ts';
import { deliverSite } from './deliver.ts';
import { Hub } from './hub.ts';
import type { HubSite } from './kinds.ts';
import { type PublishOptions, publishedPlace } from './publish.ts';
import { type NodesHubOptions, nodesHub } from './report-access.ts';

/** The options of `sno fleet site`. */
export interface FleetSiteOptions extends HubOptions, NodesHubOptions, PublishOptions {
  readonly selector?: string;
  readonly index?: string;
  readonly phase: string;
  readonly sign?: string;
  readonly shared?: string;
  readonly configByUrl?: true;
  readonly configUrlCa?: string;
  readonly exchange: boolean;
  readonly deadline?: string;
}

const PHASES = ['deliver', 'collect'];

/** `sno fleet site`: the worker of an Indexed Job, or by hand. */
export function addFleetSite(fleet: Command, surroundings: Surroundings): void {
  fleet
    .command('site')
    .summary('carry one Site of a hub through a phase')
    .description(
      'deliver: render the volume or the live ISO of a Site, publish and deliver it; collect: wait for what its node reports, and keep the kubeconfig. Each can be run again at any time',
    )
    .argument('[name]', 'of the Site')
    .option(
      '--kubeconfig <file>',
      'of the hub (default: KUBECONFIG, the account of the pod, ~/.kube/config)',
    )
    .option('--namespace <name>', 'of the Site (default: that of the pod)')
    .option('--selector <labels>', 'instead of a name: the Sites with these labels, by name')
    .option(
      '--index <n>',
      'which of them, from 0 (default: $JOB_COMPLETION_INDEX, as an Indexed Job sets it)',
    )
    .addOption(new Option('--phase <phase>', 'what to do').choices(PHASES).makeOptionMandatory())
    .option(
      '--publish <dir>',
      'folder for volumes and ISOs, as the web server or a person finds them',
    )
    .option('--publish-url <url>', 'address of that folder')
    .option('--sign <key>', 'sign volumes with this SSH key')
    .option('--shared <iso>', 'for installations: an ISO of "sno create shared-iso"')
    .option('--config-by-url', 'live hosts fetch their config from there: the ISO has its address')
    .option('--config-url-ca <file>', 'certificates that they trust for that')
    .option(
      '--no-exchange',
      'the hub does not reach the API of installed nodes: keep the first kubeconfig',
    )
    .option(
      '--hub-server <url>',
      'the API server of the hub, as nodes reach it (default: that of the kubeconfig)',
    )
    .option('--hub-ca <file>', 'its authority (default: that of the kubeconfig or the pod)')
    .option('--deadline <duration>', 'such as 20m or 1h30m (default: 20m, to collect 90m)')
    .action((name: string | undefined, options: FleetSiteOptions) =>
      fleetSite(name, options, surroundings),
    );
}

/**
 * One phase of one Site.
 *
 * @throws Failure (usage) if the Site cannot be, (fatal) if its node failed, (deadline), or another error: then the same
 *   can be tried again
 */
export async function fleetSite(
  name: string | undefined,
  options: FleetSiteOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { environment, print, notice, signal } = surroundings;
  const deadlineMs = parseDuration(
    '--deadline',
    options.deadline ?? (options.phase === 'collect' ? '90m' : '20m'),
  );
  const place = await publishedPlace(options);
  const reached = await workersAccess(options, surroundings);
  const { selector, index = environment.JOB_COMPLETION_INDEX } = options;
  using client = new KubeClient(reached.access);
  const hub = new Hub(client, reached.namespace, signal);
  const site = await chosenSite(hub, { name, selector, index });
  if (site.spec.action === 'none') await withdrawSite(hub, site, place);
  const done = whyNothing(site, options.phase);
  if (done !== undefined) {
    print(`${site.metadata.name}: ${done}`);
    return;
  }
  if (options.phase === 'collect') {
    await collectSite(hub, site, { place, deadlineMs, exchanges: options.exchange, print });
    return;
  }
  await requireMeans(site, options, environment);
  const { sign, shared } = options;
  const configByUrl = options.configByUrl === true ? { ca: options.configUrlCa } : undefined;
  const delivery = {
    ...{ place, nodesHub: await nodesHub(options, reached), sign, shared, configByUrl },
    ...{ print, notice, environment },
  };
  await within(deadlineMs, signal, `the Site ${site.metadata.name} to be delivered`, (ends) =>
    deliverSite(hub.until(ends), site, delivery),
  );
}

/** What the action needs of this machine and of the command line. @throws Failure (usage) */
async function requireMeans(
  { spec: { action } }: HubSite,
  { shared }: FleetSiteOptions,
  environment: Surroundings['environment'],
): Promise<void> {
  if (action === 'update') return;
  await requireIsoPrograms(environment, action === 'install' ? undefined : ['xorriso']);
  if (action !== 'install' || shared !== undefined) return;
  throw new Failure('usage', '--shared is missing, and the Site is for an installation', {
    expected: 'an ISO of "sno create shared-iso", beside the published folder',
  });
}

/** Undefined if there is something to do. */
function whyNothing({ spec: { action, serial }, status }: HubSite, phase: string) {
  if (action === 'none') return 'nothing to do: its action is none';
  const isDelivered = status?.conditions?.some(
    (each) => each.type === 'Delivered' && each.status === 'True',
  );
  const { volume } = status ?? {};
  const isThis = volume?.serial === serial && (volume.action ?? action) === action;
  return phase === 'deliver' && isDelivered === true && isThis
    ? `nothing to do: the serial ${serial} is delivered`
    : undefined;
}

async function within(
  deadlineMs: number,
  signal: AbortSignal,
  what: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const deadline = new AbortController();
  const late = () =>
    deadline.abort(
      new Failure('deadline', `waited ${Math.round(deadlineMs / 1000)}s for ${what}`, {
        fix: 'Run the same command again: it continues.',
      }),
    );
  const timer = setTimeout(late, deadlineMs);
  try {
    await work(AbortSignal.any([signal, deadline.signal]));
  } finally {
    clearTimeout(timer);
  }
}
