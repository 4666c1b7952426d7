import type { KeylessInput, RenderedFile, StaticPod } from '../renderer.ts';
import type { Authorities } from './authorities.ts';
import { publicFile } from './files.ts';
import { issuedLeaves } from './leaves.ts';
import { paths } from './paths.ts';
import { flags, staticPod } from './static-pod.ts';

/**
 * The identity of the only member. A snapshot is restored under exactly these values. None
 * of them depends on the host, so that a new address or name changes nothing here. The IPv4
 * loopback address is used on IPv6 hosts too: Linux cannot be built without IPv4, so that `lo`
 * always has it, while `ipv6.disable=1` removes ::1.
 */
export const etcdMember = {
  name: 'etcd',
  clusterToken: 'sno-etcd',
  clientUrl: 'https://127.0.0.1:2379',
  peerUrl: 'https://127.0.0.1:2380',
  /** Health and metrics, without TLS, on loopback. */
  metricsUrl: 'http://127.0.0.1:2381',
  dataDirectory: paths.etcdData,
} as const;

const folder = paths.pkiOf('etcd');
/** The authority of etcd's clients and peers. */
export const etcdTrust = `${folder}/ca.crt`;

/** What an agent on the host needs to call etcd. */
export const etcdClient = {
  url: etcdMember.clientUrl,
  authority: `${paths.agents}/etcd-ca.crt`,
  certificate: issuedLeaves.agentsEtcdClient.certificate,
  key: issuedLeaves.agentsEtcdClient.key,
} as const;

export function etcdFiles({ etcd }: Authorities): RenderedFile[] {
  return [
    publicFile(etcdTrust, etcd.certificate),
    publicFile(etcdClient.authority, etcd.certificate, { uses: ['etcd-access'] }),
  ];
}

export function etcdPod(input: KeylessInput): StaticPod {
  const { etcdServer, etcdPeer } = issuedLeaves;
  const args = flags({
    name: etcdMember.name,
    'data-dir': etcdMember.dataDirectory,
    'initial-cluster': `${etcdMember.name}=${etcdMember.peerUrl}`,
    'initial-cluster-state': 'new',
    'initial-cluster-token': etcdMember.clusterToken,
    'initial-advertise-peer-urls': etcdMember.peerUrl,
    'listen-peer-urls': etcdMember.peerUrl,
    'advertise-client-urls': etcdMember.clientUrl,
    'listen-client-urls': etcdMember.clientUrl,
    'listen-metrics-urls': etcdMember.metricsUrl,
    'cert-file': etcdServer.certificate,
    'key-file': etcdServer.key,
    'trusted-ca-file': etcdTrust,
    'client-cert-auth': true,
    'peer-cert-file': etcdPeer.certificate,
    'peer-key-file': etcdPeer.key,
    'peer-trusted-ca-file': etcdTrust,
    'peer-client-cert-auth': true,
    'tls-min-version': 'TLS1.2',
    // The JSON gateway would be a second way to the same data.
    'enable-grpc-gateway': false,
    // 8 GiB, the maximum that etcd recommends. At the default, 2 GiB, a full cluster stops.
    'quota-backend-bytes': 8 * 1024 ** 3,
    // Tells the API server's watch cache of progress on resources that do not change.
    'watch-progress-notify-interval': '5s',
  });
  const metrics = { port: 2381, scheme: 'HTTP' } as const;
  return staticPod(
    {
      component: 'etcd',
      role: 'database',
      args,
      mounts: [{ path: folder }, { path: etcdMember.dataDirectory, writable: true }],
      requests: { cpu: '100m', memory: '128Mi' },
      live: { path: '/livez', ...metrics },
      ready: { path: '/readyz', ...metrics },
      terminationGracePeriodSeconds: 30,
    },
    input,
  );
}
