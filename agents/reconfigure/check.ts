import { Failure } from '../../lib/base/errors/failure.ts';
import { stillRunning } from '../../lib/change/exclusion.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done, notYet, type Outcome } from '../../lib/engine/steps/step.ts';
import { namesIn } from '../../lib/host/files.ts';
import { BRIDGE } from '../../lib/host/internal-bridge.ts';
import { isInstalled } from '../../lib/host/search-path.ts';
import { presentInput, type ReconfigureContext } from './context.ts';
import { requireUsableKeys } from './login.ts';
import type { SiteStep } from './or-back.ts';

/** Checks that nothing else is changing the host. Until the end of this step, nothing on it has changed. */
export const checkSite: SiteStep = {
  name: 'check',
  leaves: 'a host with the adapters that the site expects, and no other agent that changes it',
  touches: ['network'],
  neededUntil: 'arm',
  holds: async () => true,
  async run(context, progress) {
    await presentInput(context);
    return requireReadyHost(context, progress);
  },
};

/** Whether nothing else changes the host, and it has what the site needs. @throws Failure (usage) if it never will */
export async function requireReadyHost(
  context: ReconfigureContext,
  { signal }: Pick<Progress, 'signal'>,
): Promise<Outcome> {
  const { paths, site } = context;
  const running = await stillRunning(paths);
  if (running !== undefined) return running;
  await requireNmstate(context);
  await requireUsableKeys(context.site, signal);
  const present = await namesIn(paths.at('/sys/class/net'));
  const missing = [BRIDGE, ...site.expectedAdapters].filter((name) => !present.includes(name));
  if (missing.length === 0) return done(present.join(', '));
  // An adapter on USB appears late.
  return notYet(`the host has no network adapter ${missing.join(', ')}`);
}

/** Without it, a host can only keep its present network, such as one with DHCP. */
async function requireNmstate({ site }: ReconfigureContext): Promise<void> {
  if (site.networkConfig === undefined || (await isInstalled('nmstatectl'))) return;
  throw new Failure('usage', 'the host has no nmstatectl, which applies a network', {
    code: 'reconfigure-refused',
    expected: 'the package nmstate of the operating system, as on CoreOS',
    fix: 'Remove raw_nm_state_config and dns and use DHCP, or have the factory install nmstate.',
  });
}
