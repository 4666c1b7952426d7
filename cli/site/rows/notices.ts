import { plural } from '../../../report/reading/words.ts';

const MOST_NAMED = 5;

/** Notices of many sites, each once with the sites that it is about. */
export function noticesOfSites(
  rows: readonly { readonly site: string; readonly notices: readonly string[] }[],
): string[] {
  const sites = new Map<string, string[]>();
  for (const { site, notices } of rows) {
    for (const notice of notices) {
      const of = sites.get(notice) ?? [];
      of.push(site);
      sites.set(notice, of);
    }
  }
  return [...sites].map(([notice, of]) => `${notice} (${sitesText(of)})`);
}

/** `7 sites: a, b, c, d, e, ...` */
export const sitesText = (sites: readonly string[]): string =>
  `${plural(sites.length, 'site')}: ${sites.slice(0, MOST_NAMED).join(', ')}${sites.length > MOST_NAMED ? ', ...' : ''}`;
