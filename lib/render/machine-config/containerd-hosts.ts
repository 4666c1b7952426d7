import type { ImageMirror } from '../../cluster/cluster.ts';
import type { SiteFile } from './site-files.ts';

/** Where containerd 2 looks by itself, and containerd 1 where `config_path` says so. */
const CERTS_D = '/etc/containerd/certs.d';

/** A mirror as containerd is told of it. */
interface Endpoint {
  /** With the part of the mirror's path that comes before the repository's own. */
  url: string;
  capabilities: string[];
}

/**
 * The mirrors as containerd's hosts.toml (containerd, docs/hosts.md), as far as it can have them:
 * it knows mirrors of whole registries only and asks them for the very path of the repository. A
 * mirror without the capability "resolve" is not asked what a tag means, which is to say by digest
 * only. `notices` says what differs from what was asked for.
 */
export function containerdHosts(mirrors: readonly ImageMirror[]): {
  files: SiteFile[];
  notices: string[];
} {
  const notices: string[] = [];
  const registries = new Map<string, { endpoints: Endpoint[]; closed: boolean }>();
  for (const { source, mirrors: locations, digestOnly, neverContactSource } of mirrors) {
    const [registry = '', ...path] = source.split('/');
    const known = registries.get(registry) ?? { endpoints: [], closed: false };
    const capabilities = digestOnly ? ['pull'] : ['pull', 'resolve'];
    for (const location of locations) {
      const url = endpointUrl(location, path.join('/'));
      if (url === undefined) {
        notices.push(
          `containerd cannot use the mirror ${location} of ${source}, whose path is not at the end of the mirror's; CRI-O and podman can`,
        );
      } else if (!known.endpoints.some((each) => each.url === url)) {
        known.endpoints.push({ url, capabilities });
      }
    }
    // Each mirror of a whole registry can be used, so that there is one to ask in its place.
    const closed = neverContactSource && path.length === 0;
    if (neverContactSource && !closed) {
      notices.push(
        `containerd asks ${registry} when the mirrors of ${source} fail; CRI-O and podman never do`,
      );
    }
    registries.set(registry, { ...known, closed: known.closed || closed });
  }
  const files = [...registries].flatMap(([registry, { endpoints, closed }]) =>
    endpoints.length === 0 ? [] : [hostsFile(registry, endpoints, closed)],
  );
  return { files, notices };
}

/** Undefined where the mirror's path does not end with that of the source. */
function endpointUrl(location: string, sourcePath: string): string | undefined {
  const [host = '', ...parts] = location.split('/');
  const path = parts.join('/');
  if (sourcePath === '') return join(host, path);
  if (path === sourcePath) return join(host, '');
  return path.endsWith(`/${sourcePath}`)
    ? join(host, path.slice(0, -sourcePath.length - 1))
    : undefined;
}

/** The API's root, /v2, comes before the path of a repository. */
const join = (host: string, prefix: string) =>
  `https://${host}/v2${prefix === '' ? '' : `/${prefix}`}`;

function hostsFile(registry: string, endpoints: readonly Endpoint[], closed: boolean): SiteFile {
  const last = endpoints.at(-1);
  // What containerd asks last is the registry itself, unless it is told of another server.
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
