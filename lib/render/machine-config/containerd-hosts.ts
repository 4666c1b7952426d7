import type { ImageMirror } from '../../config/cluster/cluster.ts';
import type { SiteFile } from './site-files.ts';

/** The default of containerd 2; containerd 1 looks here if `config_path` says so. */
const CERTS_D = '/etc/containerd/certs.d';

/** A mirror in containerd's terms. */
interface Endpoint {
  /** Includes the part of the mirror's path before the repository's own. */
  url: string;
  capabilities: readonly string[];
}

const BY_DIGEST = ['pull'];
const BY_TAG_TOO = ['pull', 'resolve'];

/**
 * The mirrors as containerd's hosts.toml (containerd, docs/hosts.md), as far as containerd supports
 * them: it has mirrors of whole registries only and requests the same repository path from them.
 * A mirror without the capability "resolve" does not resolve tags: it is used by digest only. One for tags is asked for
 * digests too: what a tag means is pulled by its digest.
 * `notices` lists the differences from the configuration.
 */
export function containerdHosts(mirrors: readonly ImageMirror[]): {
  files: SiteFile[];
  notices: string[];
} {
  const notices: string[] = [];
  const registries = new Map<string, { endpoints: Endpoint[]; closed: boolean }>();
  for (const { source, mirrors: locations, digestOnly, neverContactSource } of mirrors) {
    const { host: registry, path } = atFirstSlash(source);
    const known = registries.get(registry) ?? { endpoints: [], closed: false };
    const capabilities = digestOnly ? BY_DIGEST : BY_TAG_TOO;
    for (const location of locations) {
      const url = endpointUrl(location, path);
      if (url === undefined) {
        notices.push(
          `containerd cannot use the mirror ${location} of ${source}, because the mirror's path does not end with that of the source; CRI-O and podman can`,
        );
        continue;
      }
      const same = known.endpoints.find((each) => each.url === url);
      if (same === undefined) known.endpoints.push({ url, capabilities });
      else if (!digestOnly) same.capabilities = BY_TAG_TOO;
    }
    // Every mirror of a whole registry can be used: there is at least one instead of the registry.
    const closed = neverContactSource && path === '';
    if (neverContactSource && !closed) {
      notices.push(
        `containerd contacts ${registry} when the mirrors of ${source} fail; CRI-O and podman never do`,
      );
    }
    registries.set(registry, { ...known, closed: known.closed || closed });
  }
  const files = [...registries].flatMap(([registry, { endpoints, closed }]) =>
    endpoints.length === 0 ? [] : [hostsFile(registry, endpoints, closed)],
  );
  return { files, notices: [...new Set(notices)] };
}

/** Undefined when the mirror's path does not end with that of the source. */
function endpointUrl(location: string, sourcePath: string): string | undefined {
  const { host, path } = atFirstSlash(location);
  if (sourcePath === '') return join(host, path);
  if (path === sourcePath) return join(host, '');
  return path.endsWith(`/${sourcePath}`)
    ? join(host, path.slice(0, -sourcePath.length - 1))
    : undefined;
}

function atFirstSlash(reference: string): { host: string; path: string } {
  const end = `${reference}/`.indexOf('/');
  return { host: reference.slice(0, end), path: reference.slice(end + 1) };
}

/** The API's root, /v2, precedes the path of a repository. */
const join = (host: string, prefix: string) =>
  `https://${host}/v2${prefix === '' ? '' : `/${prefix}`}`;

function hostsFile(registry: string, endpoints: readonly Endpoint[], closed: boolean): SiteFile {
  const last = endpoints.at(-1);
  // The last one that containerd contacts is the registry itself, unless another server is named.
  const server =
    closed && last !== undefined ? [`server = "${last.url}"`, ...access(last), ''] : [];
  const hosts = endpoints.flatMap((endpoint) => [
    `[host.${JSON.stringify(endpoint.url)}]`,
    ...access(endpoint),
    '',
  ]);
  return {
    path: `${CERTS_D}/${registry}/hosts.toml`,
    mode: 0o644,
    contents: [...server, ...hosts].join('\n'),
  };
}

const access = ({ capabilities }: Endpoint) => [
  `capabilities = ${JSON.stringify(capabilities)}`,
  'override_path = true',
];
