import { beforeFolder } from '../../lib/change/site/places.ts';
import { siteChange } from '../../lib/change/site/request.ts';
import { readKept, readKeptFile } from '../../lib/engine/trial/kept.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { certificatesIn, validityOf } from '../../lib/pki/certificate.ts';
import { authorityNames, authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { siteCertificate } from '../../lib/render/kubernetes/site-certificate.ts';

const HOUR_MS = 3_600_000;

/** Until when a host can be brought back to what it was before its site. */
export interface WayBackEnd {
  /** ISO 8601. */
  readonly until: string;
  /** What ends then. */
  readonly because: string;
}

/** Certificates that nobody makes again when the host has gone back: leaves below an authority are. */
const NOT_RENEWED: readonly { readonly name: string; readonly path: string }[] = [
  ...authorityNames.map((name) => ({
    name: `the authority ${name}`,
    path: authorityPaths(name).certificate,
  })),
  { name: 'the certificate of the API of that site', path: siteCertificate.certificate },
];

/** The first of the time for which it is kept and the certificates of what is kept; undefined without a way back. */
export async function wayBackEnd(
  paths: HostPaths,
  { reconfigureReturnHours: hours }: Pick<Settings, 'reconfigureReturnHours'>,
): Promise<WayBackEnd | undefined> {
  const result = await siteChange.last(paths);
  const folder = beforeFolder(paths);
  const kept = await readKept(folder);
  if (kept === undefined || result?.outcome !== 'configured') return undefined;
  const keptUntil = new Date(Date.parse(result.endedAt) + hours * HOUR_MS).toISOString();
  const ends: WayBackEnd[] = [
    { until: keptUntil, because: `the ${hours} hours end for which it is kept` },
  ];
  for (const { name, path } of NOT_RENEWED) {
    const text = (await readKeptFile(folder, kept, path)) ?? '';
    const [leaf] = certificatesIn(text);
    if (leaf === undefined) continue;
    ends.push({ until: validityOf(leaf).notAfter.toISOString(), because: `${name} expires` });
  }
  return ends.toSorted((a, b) => Date.parse(a.until) - Date.parse(b.until))[0];
}
