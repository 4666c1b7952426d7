import { Failure } from '../../../lib/base/errors/failure.ts';
import { lostAddress } from '../../../lib/base/network/node-ips.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { addressesIn, hostAddresses } from '../../../lib/host/network.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { requireRecord } from './record.ts';

/**
 * The host name and the addresses are in certificates and will be in the Node. If the reboot
 * changed one of them, this fails, instead of starting a cluster that only half works. An
 * address family without any address yet is waited for.
 */
export const checkIdentity: StepBody<HostContext> = {
  name: 'check-identity',
  leaves: 'a host with the name and the addresses of the live stage',
  touches: ['network'],
  retries: true,
  input: requireRecord,
  // Repeated at each boot before the clean-up: the address may have changed since.
  async holds(context, { signal }) {
    const record = await requireRecord(context);
    const addresses = (await hostAddresses(signal)).map(({ address }) => address);
    return (
      context.hostname() === record.hostname && lostAddress(record.nodeIps, addresses) === undefined
    );
  },
  async run(context, { signal }) {
    const record = await requireRecord(context);
    if (context.hostname() !== record.hostname) {
      throw changed("the host's name", record.hostname, context.hostname());
    }
    const addresses = addressesIn(await hostAddresses(signal), context.cluster.machineNetwork).map(
      ({ address }) => address,
    );
    const lost = lostAddress(record.nodeIps, addresses);
    if (lost !== undefined && lost.found.length === 0) {
      const message = `the host has no ${lost.family} address in the machine network`;
      throw new Failure('retry', message, { code: 'address-missing', expected: lost.expected });
    }
    if (lost !== undefined) {
      throw changed(`the host's ${lost.family} address`, lost.expected, lost.found.join(', '));
    }
    return done([record.hostname, ...record.nodeIps].join(', '));
  },
};

function changed(what: string, expected: string, found: string): Failure {
  return new Failure('fatal', `the reboot changed ${what}`, {
    code: 'identity-changed',
    expected,
    found,
    fix: `Restore ${expected} on the host (DHCP reservation, DNS or configuration) and run "systemctl start kubelet.service bootkube.service".`,
  });
}
