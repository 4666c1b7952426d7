import { Failure } from '../../lib/base/errors/failure.ts';
import { ACCEPT_UNKNOWN_RELEASE } from '../../lib/config/openshift/judge-release.ts';
import type { CreateOptions } from '../create/single-node-ignition-config.ts';

/** Options of `sno create single-node-ignition-config` for a config of openshift-install. */
export interface TakeOverOptions extends CreateOptions {
  /** That Ignition config, or the folder with it. */
  fromIgnition: string;
  /** Paths, units and drop-ins that are kept although nothing is known about them. */
  keep?: readonly string[];
  /** A release that is not known is treated as the newest known one. */
  acceptUnknownRelease?: boolean;
  /** As on the command line; default DEFAULT_SHIPPING_DAYS. */
  shippingDays?: string;
}

/** A month on the way: by sea, or in a warehouse. */
export const DEFAULT_SHIPPING_DAYS = 30;
const MOST_SHIPPING_DAYS = 365;

/** The number of days. @throws Failure (usage) with every fault of these options */
export function requireTakeOver(options: TakeOverOptions): number {
  const { shippingDays } = options;
  const days = Number(shippingDays ?? DEFAULT_SHIPPING_DAYS);
  const faults = [
    ...notWith('OpenShift comes from its release image', {
      '--payload': options.payload,
      '--payload-url': options.payloadUrl,
      '--payload-sha256': options.payloadSha256,
      '--accept-untested': options.acceptUntested,
      '--machine-config-server': options.machineConfigServer,
    }),
    ...notWith('what is added to a host of OpenShift is a MachineConfig among the manifests', {
      '--ignition': options.ignition,
      '--butane': options.butane,
    }),
    ...notWith("openshift-install creates the workers' Ignition config", {
      '--api-server': options.apiServer,
      '--token-hours': options.tokenHours,
    }),
    ...(Number.isInteger(days) && days >= 0 && days <= MOST_SHIPPING_DAYS
      ? []
      : [`--shipping-days: expected 0 to ${MOST_SHIPPING_DAYS}, found ${shippingDays}`]),
  ];
  if (faults.length > 0) throw new Failure('usage', [...faults, 'Nothing was written'].join('\n'));
  return days;
}

const notWith = (why: string, options: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `${name}: not with --from-ignition: ${why}`);

/** @throws Failure (usage) for options that say nothing without --from-ignition */
export function requireNoTakeOver({
  keep,
  shippingDays,
  acceptUnknownRelease,
}: Partial<TakeOverOptions>): void {
  const faults = [
    ...(acceptUnknownRelease === undefined
      ? []
      : [`${ACCEPT_UNKNOWN_RELEASE}: only with --from-ignition`]),
    ...(keep === undefined ? [] : ['--keep: only with --from-ignition']),
    ...(shippingDays === undefined ? [] : ['--shipping-days: only with --from-ignition']),
  ];
  if (faults.length > 0) throw new Failure('usage', [...faults, 'Nothing was written'].join('\n'));
}
