import type { ChangeStep } from '../../../lib/change/or-back.ts';
import type { ReconfigureContext } from '../context.ts';
import { settled } from '../settle.ts';

type Context = Pick<
  ReconfigureContext,
  'paths' | 'settings' | 'cluster' | 'request' | 'hostname' | 'bootTime' | 'withAdministrator'
>;

/**
 * Waits for what the operators of OpenShift make of the objects. For minutes after a write the API serves statuses that
 * operators wrote before they saw it: nothing may change for longer than that (openshift/release #49431: two minutes were too
 * short).
 */
export const settleOpenShiftSite: ChangeStep<Context> = {
  name: 'settle',
  leaves: 'a steady host at its site, whose operators have rolled out everything',
  touches: ['api', 'etcd'],
  neededUntil: 'confirm',
  holds: async () => true,
  run: (context, progress) =>
    settled(context, progress, {
      nodeName: context.hostname(),
      windowMs: context.settings.reconfigureOperatorsWindowMs,
    }),
};
