import { addressesIn, hostAddresses } from '../../../lib/host/network.ts';
import { Failure } from '../../../lib/steps/failure.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import type { InstalledContext } from '../context.ts';
import { requireRecord } from './record.ts';

/**
 * The name and the address are in certificates and will be in the Node. When the
 * reboot changed one of them, this says so, instead of a cluster that half works.
 * An address that is not there yet is waited for.
 */
export const checkIdentity: StepBody<InstalledContext> = {
  name: 'check-identity',
  leaves: 'certainty that the host has the name and the address of the live stage',
  retries: true,
  input: requireRecord,
  // Again at a boot that comes before the clean-up: the address may have changed since.
  async holds(context, { signal }) {
    const record = await requireRecord(context);
    const addresses = await hostAddresses(signal);
    return (
      context.nodeName === record.hostname &&
      addresses.some(({ address }) => address === record.nodeIp)
    );
  },
  async run(context, { signal }) {
    const record = await requireRecord(context);
    if (context.nodeName !== record.hostname) {
      throw changed("the host's name", record.hostname, context.nodeName);
    }
    const addresses = addressesIn(await hostAddresses(signal), context.cluster.machineNetwork).map(
      ({ address }) => address,
    );
    if (addresses.length === 0) {
      throw new Failure('retry', 'the host has no address in the machine network', {
        expected: record.nodeIp,
      });
    }
    if (!addresses.includes(record.nodeIp)) {
      throw changed("the host's address", record.nodeIp, addresses.join(', '));
    }
    return done(`${record.hostname}, ${record.nodeIp}`);
  },
};

function changed(what: string, expected: string, found: string): Failure {
  return new Failure('fatal', `the reboot changed ${what}`, {
    expected,
    found,
    fix: `Give the host ${expected} back (DHCP reservation, DNS or configuration) and run "systemctl start kubelet.service bootkube.service".`,
  });
}
