import { type Family, familyOf } from '../../../base/network/address.ts';
import { BRIDGE } from '../../../host/internal-bridge.ts';
import { daysMs } from '../../../pki/lifetimes.ts';
import type { CheckName, NodeCertificate, NodeFacts, ShippingCheck } from './facts.ts';
import { probeText } from './probes.ts';

type Judged = Omit<ShippingCheck, 'name'>;
const faults = (...all: readonly (string | undefined)[]): Judged => ({
  faults: all.filter((each) => each !== undefined),
  notes: [],
});

/** A battery-backed clock is off by seconds a day; more than this is another setting, such as local time. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

const rules: Readonly<Record<CheckName, (facts: NodeFacts) => Judged>> = {
  settled: ({ unsteady, operators }) => faults(unsteady, ...operators.faults),
  services: ({ clusterDns, apiService, ownNames, internalAddresses: [address] }) =>
    faults(
      whyWrong("the cluster's DNS", 'kubernetes.default', clusterDns, apiService),
      ...ownNames.map(({ name, answer }) =>
        whyWrong("the node's name server", name, answer, address),
      ),
    ),
  conformance: ({ probes }) => {
    const failed = probes.filter(({ outcome }) => outcome === 'failed');
    const others = probes.filter(({ outcome }) => outcome !== 'failed');
    return { faults: failed.map(probeText), notes: others.map(probeText) };
  },
  images: ({ pods, unitImages, operators }) => ({
    ...faults(
      ...unitImages.map(({ image, path, isPinned }) => {
        if (isPinned === undefined) return `${path}: the image ${image} is not on the host`;
        return isPinned
          ? undefined
          : `${path}: the image ${image} is not pinned, and the kubelet may delete it: run "reconfigure prepare" again`;
      }),
      ...pods.flatMap(({ name, containers }) =>
        containers.flatMap(({ image, isAlwaysPulled, isLocal }) => [
          isLocal ? undefined : `${name}: the image ${image} is not on the host`,
          isAlwaysPulled
            ? `${name}: imagePullPolicy Always of ${image} needs a registry at each start`
            : undefined,
        ]),
      ),
    ),
    notes: operators.notes,
  }),
  'internal-address': internalAddress,
  arrival: ({ arrival }) => arrival,
  certificates: ({ certificates, now, shippingDays }) => {
    const until = now.getTime() + daysMs(shippingDays);
    const whyUnfit = ({
      name,
      path,
      state,
      notBefore,
      notAfter,
      madeAgain,
    }: NodeCertificate): string | undefined => {
      if (state === 'unreadable') return `${name} (${path}) is unreadable`;
      if (state === 'not-yet-valid') return `${name} (${path}) is not valid yet`;
      if (notBefore === undefined || notAfter === undefined) return undefined;
      if (madeAgain === undefined) {
        return Date.parse(notAfter) > until
          ? undefined
          : `${name} (${path}) expires ${notAfter}, within ${shippingDays} days`;
      }
      if (state === 'expired') return `${name} (${path}) has expired ${notAfter}`;
      return isOfFirstDay(notBefore, notAfter)
        ? `${name} (${path}) is that of the installation, until ${notAfter}: leave the node switched on until it was replaced`
        : undefined;
    };
    const onArrival = certificates.filter(
      ({ notAfter, madeAgain }) =>
        madeAgain !== undefined && notAfter !== undefined && Date.parse(notAfter) <= until,
    );
    return {
      ...faults(...certificates.map(whyUnfit)),
      notes: onArrival.map(
        ({ name, path, notAfter, madeAgain }) =>
          `${name} (${path}) expires ${notAfter}; another is made by ${madeAgain}`,
      ),
    };
  },
  clock: ({ now, certificates, hardwareClock, isTimeSynchronized }) => {
    const newest = newestCertificate(certificates);
    const offMs = hardwareClock === undefined ? 0 : hardwareClock.getTime() - now.getTime();
    return {
      ...faults(
        newest !== undefined && now < newest
          ? `the clock says ${now.toISOString()}, before a certificate of ${newest.toISOString()}`
          : undefined,
        Math.abs(offMs) > CLOCK_TOLERANCE_MS
          ? `the hardware clock is ${Math.round(offMs / 1000)} s off: write it with "hwclock --systohc --utc"`
          : undefined,
      ),
      notes: [
        ...(hardwareClock === undefined ? ['the host has no hardware clock'] : []),
        ...(isTimeSynchronized ? [] : ['no time server has confirmed the clock']),
      ],
    };
  },
};

function internalAddress(facts: NodeFacts): Judged {
  const { internalAddresses: own, nodeName, kubelet, nodeAddresses, apiEndpoints } = facts;
  const [address] = own;
  const only = (what: string, found: readonly string[], wanted: readonly string[] = own) =>
    found.join() === wanted.join()
      ? undefined
      : `${what}: expected ${wanted.join(' and ')} alone, found ${found.join(', ') || 'none'}`;
  const others = facts.nodes.filter((name) => name !== nodeName);
  const elsewhere = facts.pods.filter(
    ({ isOnHostNetwork, podIp }) => isOnHostNetwork && podIp !== undefined && podIp !== address,
  );
  const judged = faults(
    ...facts.missingOnBridge.map((each) => `${BRIDGE} does not have the address ${each}`),
    only('addresses of the kubelet', kubelet.nodeIps),
    kubelet.nodeName === nodeName
      ? undefined
      : `name of the Node: expected ${nodeName} pinned, found ${kubelet.nodeName ?? 'none'}`,
    nodeAddresses === undefined
      ? `the API has no Node ${nodeName}`
      : only(`addresses of the Node ${nodeName}`, nodeAddresses),
    others.length === 0 ? undefined : `there are other Nodes: ${others.join(', ')}`,
    // That Service has one family.
    only('endpoints of the Service kubernetes', apiEndpoints, [address]),
    facts.nodePortAddresses === undefined || isEverywhere(own, facts.nodePortAddresses)
      ? undefined
      : `node ports answer in ${facts.nodePortAddresses.join(', ') || 'no network'} only`,
    ...facts.otherFaults,
    ...elsewhere.map(({ name, podIp }) => `${name} has the address ${podIp}`),
  );
  return { ...judged, notes: facts.otherNotes };
}

const EVERYWHERE: Readonly<Record<Family, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' };

const isEverywhere = (own: readonly string[], networks: readonly string[]): boolean =>
  own.every((address) => networks.includes(EVERYWHERE[familyOf(address)]));

/** Everything that a node must be before it is shipped, in the order of the report. */
export const judgeShipment = (facts: NodeFacts): ShippingCheck[] => [
  check('settled', facts),
  check('services', facts),
  check('conformance', facts),
  check('images', facts),
  check('internal-address', facts),
  check('arrival', facts),
  check('certificates', facts),
  check('clock', facts),
];

const check = (name: CheckName, facts: NodeFacts): ShippingCheck => ({
  name,
  ...rules[name](facts),
});

/** The newest certificate's notBefore, which was backdated; the clock was never behind it. */
function newestCertificate(certificates: NodeFacts['certificates']): Date | undefined {
  const times = certificates.flatMap(({ notBefore }) =>
    notBefore === undefined ? [] : [Date.parse(notBefore)],
  );
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}

/**
 * The installer of OpenShift makes signers for a day, which operators replace within the first one. A node that is switched off before
 * has no others.
 */
const isOfFirstDay = (notBefore: string, notAfter: string): boolean =>
  Date.parse(notAfter) - Date.parse(notBefore) < daysMs(2);

function whyWrong(
  who: string,
  name: string,
  answer: readonly string[] | string,
  expected: string,
): string | undefined {
  if (typeof answer === 'string') return `${who} does not answer: ${answer}`;
  if (answer.includes(expected)) return undefined;
  return `${who} says ${answer.join(', ')} for ${name}, expected ${expected}`;
}

/** What expires first of what nobody makes again, and when: until then the node can be in a store. Undefined without certificates. */
export function shelfLife(
  certificates: NodeFacts['certificates'],
): { readonly until: string; readonly name: string } | undefined {
  const [first] = certificates
    .flatMap(({ name, notAfter, madeAgain }) =>
      notAfter === undefined || madeAgain !== undefined ? [] : [{ name, until: notAfter }],
    )
    .toSorted((a, b) => Date.parse(a.until) - Date.parse(b.until));
  return first;
}
