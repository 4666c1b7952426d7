import type { ImageMirror } from '../../config/cluster/cluster.ts';
import { containerdHosts } from './containerd-hosts.ts';
import type { SiteFile } from './site-files.ts';

/**
 * The mirrors for CRI-O and podman (containers-registries.conf(5)) and for containerd. The files
 * are world-readable: package tools of the operating system read them.
 */
export function mirrorFiles(mirrors: readonly ImageMirror[]): SiteFile[] {
  if (mirrors.length === 0) return [];
  return [
    {
      path: '/etc/containers/registries.conf.d/50-sno-mirrors.conf',
      mode: 0o644,
      contents: [...Map.groupBy(mirrors, ({ source }) => source)].map(registryTable).join('\n'),
    },
    ...containerdHosts(mirrors).files,
  ];
}

/** One table for each source: a second one of the same source would replace the first. */
function registryTable([source, entries]: readonly [string, readonly ImageMirror[]]): string {
  const kinds = new Set(entries.map(({ digestOnly }) => digestOnly));
  const isMixed = kinds.size > 1;
  return [
    '[[registry]]',
    `location = ${JSON.stringify(source)}`,
    ...(!isMixed && kinds.has(true) ? ['mirror-by-digest-only = true'] : []),
    ...(entries.some(({ neverContactSource }) => neverContactSource) ? ['blocked = true'] : []),
    ...entries.flatMap(({ mirrors, digestOnly }) =>
      mirrors.flatMap((mirror) => [
        '',
        '[[registry.mirror]]',
        `location = ${JSON.stringify(mirror)}`,
        ...(isMixed ? [`pull-from-mirror = "${digestOnly ? 'digest' : 'tag'}-only"`] : []),
      ]),
    ),
    '',
  ].join('\n');
}
