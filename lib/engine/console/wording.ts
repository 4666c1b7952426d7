import type { AgentName } from '../agents/table.ts';

/**
 * What an agent does, for readers who do not know Kubernetes. Agents that are not
 * listed print nothing on the console: they neither install the host nor keep it
 * from working.
 */
export const PLAIN_WORDS: Readonly<Partial<Record<AgentName, string>>> = {
  bootkube: 'Preparing the cluster',
  'install-to-disk': 'Writing the disk',
  'sno-payload': 'Checking the software',
  'sno-restore': 'Restoring the cluster',
  'sno-certificates': 'Checking the certificates',
  'post-reboot': 'Starting the cluster',
  aiokube: 'Setting up the cluster',
  worker: 'Joining the cluster',
  'sno-address': 'Checking the address of this host',
  reconfigure: 'Setting this host up for its site',
  'sno-trial': 'Checking a change of this host',
  'sno-deferred': 'Applying the remaining manifests',
};

/** Text without control characters: a message may quote escape sequences of a host or server. */
export const printableOnConsole = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '').trim();

/** Of a text, in characters: a screen has 2000, and what has failed has to stay on it. The journal has all of it. */
const LONGEST = 800;

/**
 * The same, not too long for a screen: a message may quote all that a program or the API has said. Of a long one both
 * ends: the reason is mostly the last thing that a program prints.
 */
export function shownOnConsole(text: string): string {
  // By characters: half of one would be written as another one.
  const all = [...printableOnConsole(text)];
  if (all.length <= LONGEST) return all.join('');
  return `${all.slice(0, LONGEST / 2).join('')} ... ${all.slice(-LONGEST / 2).join('')}`;
}
