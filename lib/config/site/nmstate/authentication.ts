import { at, entriesOf, type Misfit } from './misfit.ts';
import type { Interface } from './references.ts';

const PASSWORD = ['identity', 'password'];
const INSIDE = ['identity', 'phase2-auth', 'password'];

/**
 * What each method of 802.1X needs (NetworkManager, nm-setting-8021x.c, verify): nmstate accepts a section without it, and
 * the host is never let in. Nobody is there to type a password.
 */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  ...{ leap: PASSWORD, pwd: PASSWORD, md5: PASSWORD, fast: PASSWORD, peap: INSIDE, ttls: INSIDE },
  tls: ['client-cert', 'private-key'],
};

/** Methods of `802.1x` that lack something. The section is named, not the key: of a password nothing is shown, not even that. */
export function authenticationMisfits({ entry, path }: Interface): Misfit[] {
  const section = '802.1x';
  return entriesOf(at(entry, section, 'eap-methods'), []).flatMap(({ entry: method }) => {
    const needed = Object.hasOwn(NEEDED, `${method}`) ? (NEEDED[`${method}`] ?? []) : [];
    const missing = needed.filter((key) => (at(entry, section, key) ?? '') === '');
    if (missing.length === 0) return [];
    const expected = `${missing.join(' and ')}, which the method ${method} needs`;
    return [
      {
        path: [...path, section],
        expected,
        found: 'a section without',
        fix: 'Add what is missing.',
      },
    ];
  });
}
