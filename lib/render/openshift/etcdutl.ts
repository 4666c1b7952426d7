import { dirname } from 'node:path';
import type { Etcdutl } from '../../clients/etcd/etcdutl.ts';
import type { Podman } from './podman.ts';

/**
 * etcdutl of that image, which the images of etcd have since 4.14. It sees the folders of these files
 * by their paths on the host, and no network.
 */
export function etcdutlIn(podman: Podman, image: string, files: readonly string[]): Etcdutl {
  const folders = [...new Set(files.map((file) => dirname(file)))];
  return (args, limits) =>
    podman.run(
      {
        name: 'sno-etcdutl',
        image,
        entrypoint: 'etcdutl',
        command: args,
        network: 'none',
        volumes: folders.map((folder) => `${folder}:${folder}`),
        unlabeled: true,
      },
      limits,
    );
}

/** Whether etcdutl of that version of etcd can hash a database: since 3.6. */
export function canHash(etcdVersion: string): boolean {
  const [major = 0, minor = 0] = etcdVersion.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 6);
}
