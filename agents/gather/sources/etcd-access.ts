import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { connectEtcd, type EtcdClient } from '../../../lib/clients/etcd/client.ts';
import { exists, namesIn } from '../../../lib/host/files.ts';
import { accessTo } from '../../../lib/render/access.ts';
import type { GatherHost } from '../gather-host.ts';

interface EtcdFiles {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** etcd's certificates on an OpenShift host: peer certificates are also valid for clients. */
const OPENSHIFT = '/etc/kubernetes/static-pod-resources/etcd-certs';
const OPENSHIFT_AUTHORITIES = [
  'configmaps/etcd-all-bundles/server-ca-bundle.crt',
  'configmaps/etcd-serving-ca/ca-bundle.crt',
];

/** Static pods that hold etcd's arguments on this host. */
const MANIFESTS = ['etcd.yaml', 'etcd-pod.yaml', 'etcd-member-pod.yaml'];

/** Connects to this host's etcd with a client certificate of this host for the duration of `use`. */
export async function withEtcdOf<T>(
  host: GatherHost,
  use: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  const { clientUrl } = accessTo('kubernetes').etcd;
  const { origin } = await etcdUrl(host, 'listen-client-urls', clientUrl);
  using client = connectEtcd(origin, await etcdTls(host));
  return await use(client);
}

/** @throws Failure if this host has no client certificate or its files cannot be read */
export async function etcdTls(host: GatherHost): Promise<Record<'ca' | 'cert' | 'key', Buffer>> {
  const files = await etcdFiles(host);
  if (files === undefined) {
    throw new Failure('retry', 'no client certificate for etcd on this host');
  }
  const [ca, cert, key] = await Promise.all([
    readFile(files.ca),
    readFile(files.certificate),
    readFile(files.key),
  ]);
  return { ca, cert, key };
}

/** Whether this host runs, or should run, etcd. */
export async function hasEtcd(host: GatherHost): Promise<boolean> {
  if ((await etcdFiles(host)) !== undefined) return true;
  return (await etcdManifest(host)) !== undefined;
}

/** Where this host's etcd serves health and metrics. */
export function etcdMetricsUrl(host: GatherHost): Promise<URL> {
  return etcdUrl(host, 'listen-metrics-urls', accessTo('kubernetes').gather.etcdMetricsUrl);
}

/** Read from its static pod, which is authoritative. */
async function etcdUrl(host: GatherHost, flag: string, usual: string): Promise<URL> {
  const manifest = (await etcdManifest(host)) ?? '';
  const given = new RegExp(`--${flag}=(https?://[^\\s,"'\\\\]+)`).exec(manifest)?.[1];
  const url = new URL(given ?? usual);
  // It listens on all addresses; its certificate covers this one too.
  if (['0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = '127.0.0.1';
  return url;
}

async function etcdManifest({ paths }: GatherHost): Promise<string | undefined> {
  for (const name of MANIFESTS) {
    const path = join(paths.staticPods, name);
    if (await exists(path)) return readFile(path, 'utf8');
  }
  return undefined;
}

async function etcdFiles({ paths }: GatherHost): Promise<EtcdFiles | undefined> {
  const { ca, certificate, key } = accessTo('kubernetes').gather.etcd;
  const own = { ca: paths.at(ca), certificate: paths.at(certificate), key: paths.at(key) };
  if (await exists(own.key)) return own;
  const folder = paths.at(join(OPENSHIFT, 'secrets/etcd-all-certs'));
  const peer = (await namesIn(folder)).find((name) => /^etcd-peer-.*\.key$/.test(name));
  if (peer === undefined) return undefined;
  const peerKey = join(folder, peer);
  for (const ca of OPENSHIFT_AUTHORITIES.map((name) => paths.at(join(OPENSHIFT, name)))) {
    if (await exists(ca))
      return { ca, certificate: peerKey.replace(/\.key$/, '.crt'), key: peerKey };
  }
  return undefined;
}
