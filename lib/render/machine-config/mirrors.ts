import type { ImageMirror } from '../../cluster/cluster.ts';
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
      contents: mirrors.map(registryTable).join('\n'),
    },
    ...containerdHosts(mirrors).files,
  ];
}

function registryTable({ source, mirrors, digestOnly, neverContactSource }: ImageMirror): string {
  return [
    '[[registry]]',
    `location = ${JSON.stringify(source)}`,
    ...(digestOnly ? ['mirror-by-digest-only = true'] : []),
    ...(neverContactSource ? ['blocked = true'] : []),
    ...mirrors.flatMap((mirror) => [
      '',
      '[[registry.mirror]]',
      `location = ${JSON.stringify(mirror)}`,
    ]),
    '',
  ].join('\n');
}
