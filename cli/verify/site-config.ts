import { siteDomain } from '../../lib/config/site-config/site-config.ts';
import { readShippedFacts, readSite, siteSource } from '../site/read-site.ts';
import { siteNotices } from '../site/site-notices.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno verify site-config FILE`: @throws Failure (usage) with every fault of it, and of the files that it needs */
export async function verifySiteConfig(
  path: string,
  { hostFacts }: { readonly hostFacts?: string },
  { print, notice, signal }: Pick<Surroundings, 'print' | 'notice' | 'signal'>,
): Promise<void> {
  const facts = await readShippedFacts(hostFacts);
  const now = new Date();
  const site = await readSite(await siteSource(path), { facts, now, signal });
  const judged = facts === undefined ? '' : `, for the node ${facts.nodeName}`;
  print(`${path} is a valid site configuration of ${siteDomain(site.config)}${judged}`);
  for (const text of siteNotices(site, true, now)) notice(text);
  if (facts === undefined) {
    notice('not compared with a node: its networks and adapters are in host-facts.json');
  }
}
