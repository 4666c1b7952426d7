import { lookUntil, orError } from '../../lib/base/wait/wait-until.ts';
import { run } from '../../lib/host/command.ts';

/** The first of the options that are left to a site (RFC 3942). */
const OPTION = 'private_224';
/** A switch learns for half a minute. */
const LEASE_MS = 45_000;
const EVERY_MS = 2_000;
const MOST_CHARACTERS = 1024;
const SHOW = ['--terse', '--escape', 'no', '--fields', 'DHCP4', 'device', 'show'];

/**
 * The address that the DHCP server of the site has sent in option 224, once an adapter has a lease; undefined if it sent none that
 * can be asked. Whoever answers there, a volume from the network has to be signed.
 */
export async function urlByDhcp(signal: AbortSignal): Promise<string | undefined> {
  const lease = orError(async (limits) => {
    const options = await run('nmcli', SHOW, limits);
    return options.includes('DHCP4.OPTION') ? { met: options } : { state: 'no lease' };
  });
  const seen = await lookUntil(lease, { signal, deadlineMs: LEASE_MS, everyMs: EVERY_MS });
  return 'met' in seen ? urlIn(seen.met) : undefined;
}

/** Of nmcli's output: `DHCP4.OPTION[3]:private_224 = 68:74:74:70...`; some DHCP clients give the text itself. */
export function urlIn(options: string): string | undefined {
  const value = new RegExp(`^DHCP4\\.OPTION\\[\\d+\\]:\\s*${OPTION} = (.+)$`, 'm').exec(
    options,
  )?.[1];
  if (value === undefined || value.length > 3 * MOST_CHARACTERS) return undefined;
  const text = /^([0-9a-f]{2}:)*[0-9a-f]{2}$/i.test(value)
    ? Buffer.from(value.replaceAll(':', ''), 'hex').toString('latin1')
    : value;
  // Some servers end it with a NUL.
  const trimmed = text.replace(/\0+$/, '').trim();
  if (!/^https?:\/\/[!-~]+$/.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  // The journal and the prompt show it.
  return new URL(trimmed).username === '' ? trimmed : undefined;
}
