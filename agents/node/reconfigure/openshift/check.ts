import { Failure } from '../../../../lib/errors/failure.ts';
import { exists } from '../../../../lib/host/files.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import type { StepBody } from '../../../../lib/steps/within.ts';
import { requireReadyHost } from '../check.ts';
import type { ReconfigureContext } from '../context.ts';
import { NEVER_RUN } from './never-run.ts';

/** Where a person describes the bridge of the pod network: configure-ovs.sh does nothing then, or makes another one. */
const BY_HAND = ['/etc/nmstate/openshift/applied', '/etc/ovnk/extra_bridge'] as const;

/** What needs the whole host to itself, and that the bridge of its pod network can be made anew. */
export const check: StepBody<ReconfigureContext> = {
  name: 'check',
  leaves: 'a host with the adapters that the site expects, whose pod network follows them',
  touches: ['network'],
  neededUntil: 'arm',
  input: ({ request }) => request.id,
  holds: async () => true,
  async run(context, progress) {
    const { paths } = context;
    progress.warn(NEVER_RUN);
    for (const path of BY_HAND) {
      if (await exists(paths.at(path))) {
        throw refused('the bridge of the pod network is described by hand', path);
      }
    }
    for (const program of ['nmcli', 'ovs-vsctl']) {
      if (!(await isInstalled(program))) throw refused(`the host has no ${program}`, 'no program');
    }
    return requireReadyHost(context, progress);
  },
};

const refused = (what: string, found: string): Failure =>
  new Failure('usage', what, {
    code: 'reconfigure-refused',
    expected: 'a bridge br-ex that configure-ovs.sh makes at each boot',
    found,
    fix: 'See docs/relocation-openshift.md for which hosts can be reconfigured.',
  });
