/** Mirrors by the host that they stand for; `any` stands for all others. */
export interface Mirrors {
  readonly any?: string | undefined;
  readonly of: ReadonlyMap<string, string>;
}

const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;
const REGISTRY = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*$/;

/**
 * The mirrors of `--registry`: HOST/PATH for all registries, or REGISTRY=HOST/PATH for one of them. Every fault is
 * added to `faults`.
 */
export const registryMirrors = (values: readonly string[], faults: string[]): Mirrors =>
  readMirrors('--registry', values, registryFault, faults);

/** The mirrors of `--downloads`: URL for all download sites, or HOST=URL for one of them. */
export const downloadMirrors = (values: readonly string[], faults: string[]): Mirrors =>
  readMirrors('--downloads', values, downloadFault, faults);

function readMirrors(
  option: string,
  values: readonly string[],
  faultOf: (mirror: string) => string | undefined,
  faults: string[],
): Mirrors {
  const of = new Map<string, string>();
  let any: string | undefined;
  for (const value of values) {
    const [, host, written = ''] = /^(?:([^=/]*)=)?(.*)$/s.exec(value) ?? [];
    const mirror = written.replace(/\/+$/, '');
    const fault = faultOf(mirror);
    if (fault !== undefined) faults.push(`${option} ${fault}`);
    else if (host === undefined && any !== undefined)
      faults.push(`${option} ${mirror}: given twice`);
    else if (host === undefined) any = mirror;
    else if (!HOST.test(host)) faults.push(`${option} ${host}=${mirror}: ${host} is not a host`);
    else if (of.has(host)) faults.push(`${option} ${host}: given twice`);
    else of.set(host, mirror);
  }
  return { any, of };
}

function registryFault(mirror: string): string | undefined {
  if (REGISTRY.test(mirror)) return undefined;
  return `${mirror}: expected HOST[:PORT][/PATH] without https://, or REGISTRY=HOST[:PORT][/PATH]. Its certificate must be trusted here; a login is that of "skopeo login"`;
}

/** The text may have a password, and is not repeated then. */
function downloadFault(mirror: string): string | undefined {
  if (!URL.canParse(mirror))
    return `${mirror}: expected https://HOST[/PATH], or HOST=https://HOST[/PATH]`;
  const { protocol, username, password, search, hash, host } = new URL(mirror);
  if (username !== '' || password !== '') {
    return `of ${host}: a user or a password in it would be seen by every process. Use a mirror without a login`;
  }
  if (!['https:', 'http:'].includes(protocol)) return `${mirror}: expected https://HOST[/PATH]`;
  if (search !== '' || hash !== '') return `${mirror}: expected a URL without ? and #`;
  return undefined;
}

/** Where an image is fetched instead: `HOST/REST` becomes `MIRROR/REST` for a mirror of that host, else `ANY/HOST/REST`. */
export function mirroredImage(reference: string, mirrors: Mirrors): string {
  return mirrored(reference, mirrors) ?? reference;
}

/** Where a file is fetched instead, by the same rule. */
export function mirroredUrl(url: string, mirrors: Mirrors): string {
  return mirrored(url.replace(/^https:\/\//, ''), mirrors) ?? url;
}

function mirrored(address: string, { any, of }: Mirrors): string | undefined {
  const host = address.slice(0, address.indexOf('/'));
  const mirror = of.get(host);
  if (mirror !== undefined) return `${mirror}${address.slice(host.length)}`;
  return any === undefined ? undefined : `${any}/${address}`;
}

/** Downloads over plain HTTP, where only a lock tells what is right. */
export const plainMirrors = ({ any, of }: Mirrors): string[] =>
  [...(any === undefined ? [] : [any]), ...of.values()].filter((mirror) => /^http:/i.test(mirror));
