import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';
import { ETCD_VERSIONS, type EtcdMinor, etcdMinor } from './versions.ts';

/** The folder with go.mod and go.sum of a minor version. */
export const etcdModule = (minor: EtcdMinor): string => join(import.meta.dirname, 'etcd', minor);

export const etcdOf = (minor: EtcdMinor): Component => {
  const module = etcdModule(minor);
  return {
    name: `etcd-${minor}`,
    version: ETCD_VERSIONS[minor],
    recipe: [import.meta.filename, module],
    build: (target, context) =>
      buildGoBinaries(
        target,
        {
          module,
          packages: {
            'go.etcd.io/etcd/server/v3': 'etcd',
            'go.etcd.io/etcd/etcdutl/v3': 'etcdutl',
            'go.etcd.io/etcd/etcdctl/v3': 'etcdctl',
          },
          deadlineMs: 10 * 60_000,
        },
        context,
      ),
  };
};

/** Of the lab's own version. */
export const etcd = etcdOf(etcdMinor);
