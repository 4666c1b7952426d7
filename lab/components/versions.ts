/**
 * The versions of Kubernetes and etcd that the lab builds, one of each supported minor. `npm run lab -- --kubernetes 1.36`
 * chooses another than the newest for a run; the names of components carry the minor, so that each is kept.
 */
import { Failure } from '../../lib/base/errors/failure.ts';
import { KUBERNETES_VARIABLE } from '../kubernetes-variable.ts';

export const KUBERNETES_VERSIONS = {
  '1.34': '1.34.4',
  '1.35': '1.35.4',
  '1.36': '1.36.3',
  '1.37': '1.37.2',
} as const;

export const ETCD_VERSIONS = { '3.6': '3.6.16', '3.7': '3.7.3' } as const;

export type KubernetesMinor = keyof typeof KUBERNETES_VERSIONS;
export type EtcdMinor = keyof typeof ETCD_VERSIONS;

export const isKubernetesMinor = (text: string): text is KubernetesMinor =>
  Object.hasOwn(KUBERNETES_VERSIONS, text);

export const isEtcdMinor = (text: string): text is EtcdMinor => Object.hasOwn(ETCD_VERSIONS, text);

/** What the lab runs when nothing else is chosen: the newest, with the etcd that it is released with. */
const DEFAULT: KubernetesMinor = '1.37';
const etcdWith: Readonly<Record<KubernetesMinor, EtcdMinor>> = {
  '1.34': '3.6',
  '1.35': '3.6',
  '1.36': '3.6',
  '1.37': '3.7',
};

export const kubernetesMinor: KubernetesMinor = chosen(process.env[KUBERNETES_VARIABLE]);
export const etcdMinor: EtcdMinor = etcdWith[kubernetesMinor];
export const KUBERNETES_VERSION = KUBERNETES_VERSIONS[kubernetesMinor];
export const ETCD_VERSION = ETCD_VERSIONS[etcdMinor];

function chosen(minor: string | undefined): KubernetesMinor {
  if (minor === undefined || minor === '') return DEFAULT;
  if (isKubernetesMinor(minor)) return minor;
  throw new Failure('usage', `the lab does not build Kubernetes ${minor}`, {
    expected: `one of ${Object.keys(KUBERNETES_VERSIONS).join(', ')}`,
    found: minor,
  });
}
