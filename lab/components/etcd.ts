import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

export const ETCD_VERSION = '3.6.8';
const module = join(import.meta.dirname, 'etcd');

export const etcd: Component = {
  name: 'etcd',
  version: ETCD_VERSION,
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
