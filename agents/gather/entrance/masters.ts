import { hostname, networkInterfaces } from 'node:os';
import { failedOutcome, type GatherOutcome } from '../../../report/gather-record.ts';

/** The names and addresses that can refer to this host. */
export function ownNames(): ReadonlySet<string> {
  const name = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap((interfaces = []) =>
    interfaces.map(({ address }) => address.toLowerCase()),
  );
  return new Set(['localhost', name, name.split('.', 1)[0] ?? name, ...addresses]);
}

const ELSEWHERE = 'another host; run installer-gather.sh there';

/**
 * Outcomes for masters other than this host. Nothing is fetched from them: their host keys
 * are unknown here, and a bundle from an unverified host proves nothing.
 */
export function otherMasters(
  masters: readonly string[],
  own: ReadonlySet<string>,
): GatherOutcome[] {
  return masters
    .filter((master) => !own.has(master.toLowerCase().replace(/^\[(.*)\]$/, '$1')))
    .map((master) => failedOutcome(`control-plane/${master}`, ELSEWHERE));
}
