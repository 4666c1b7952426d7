import { Failure } from '../../../lib/base/errors/failure.ts';
import { requireReadyHost } from '../check.ts';
import type { SiteStep } from '../or-back.ts';
import { bridgeFaults } from './bridge-faults.ts';
import { NEVER_RUN } from './never-run.ts';

/** What needs the whole host to itself, and that the bridge of its pod network can be made anew. */
export const checkSiteOnOpenShift: SiteStep = {
  name: 'check',
  leaves: 'a host with the adapters that the site expects, whose pod network follows them',
  touches: ['network'],
  neededUntil: 'arm',
  holds: async () => true,
  async run(context, progress) {
    progress.warn(NEVER_RUN);
    const faults = await bridgeFaults(context.paths);
    if (faults.length > 0) throw refused(faults.join('; '));
    return requireReadyHost(context, progress);
  },
};

const refused = (found: string): Failure =>
  new Failure('usage', 'the bridge of the pod network cannot be made anew', {
    code: 'reconfigure-refused',
    expected: 'a bridge br-ex that configure-ovs.sh makes at each boot',
    found,
    fix: 'See docs/relocation-openshift.md for which hosts can be reconfigured.',
  });
