import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Identity } from '../../../lib/change/identity/identity.ts';
import type { AddressVerdict } from '../../../lib/change/identity/moved-address.ts';

const listed = ({ nodeIps }: Identity): string => nodeIps.join(', ');
const changeTo = ({ nodeIps }: Identity): string =>
  ['sno-identity change', ...nodeIps.map((address) => `--address ${address}`)].join(' ');
const giveBack = (from: Identity): string =>
  `Give the host ${listed(from)} again (DHCP reservation)`;

function moved(what: string, from: Identity, found: string, fix: string): Failure {
  return new Failure('fatal', what, { code: 'address-moved', expected: listed(from), found, fix });
}

/** `onAddressChange: stop`. */
export const notFollowed = (from: Identity, to: Identity): Failure =>
  moved(
    'the address of this host has moved',
    from,
    listed(to),
    `${giveBack(from)}, or run "${changeTo(to)}". "sno-address set follow" does that by itself from now on.`,
  );

/** Nobody but a person can say which address is to be the Node's. */
export const unclear = (
  from: Identity,
  { found }: Extract<AddressVerdict, { kind: 'unclear' }>,
): Failure =>
  moved(
    'this host has lost the address of its Node',
    from,
    found,
    `${giveBack(from)}, or run "sno-identity change --address" with one that it has.`,
  );

/** Leases that move again and again would keep the API away. */
export const tooOften = (from: Identity, to: Identity, count: number): Failure =>
  moved(
    `the address of this host has moved again, after ${count} changes within a day`,
    from,
    listed(to),
    `${giveBack(from)}, or run "${changeTo(to)}".`,
  );
