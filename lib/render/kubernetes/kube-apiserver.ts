import type { KeylessInput, LaptopAuthorities, RenderedFile, StaticPod } from '../renderer.ts';
import { admissionConfigPath, admissionFile, admissionPlugins } from './admission.ts';
import { auditFlags, auditPolicyFile } from './audit.ts';
import { authenticationConfigPath, authenticationFile } from './authentication.ts';
import { type Authorities, clientBundle, laptopAdminCa } from './authorities.ts';
import { emulation } from './emulation.ts';
import { encryptionConfigPath, encryptionFile } from './encryption.ts';
import { etcdMember } from './etcd.ts';
import { publicFile } from './files.ts';
import { issuedLeaves } from './leaves.ts';
import { apiPort, paths } from './paths.ts';
import { serviceAccount } from './service-account.ts';
import { siteCertificateFlag } from './site-certificate.ts';
import { flags, staticPod } from './static-pod.ts';

const folder = paths.pkiOf('kube-apiserver');

/** Whom the API server trusts: files with authorities. */
export const apiServerTrust = {
  clients: `${folder}/client-ca.crt`,
  etcd: `${folder}/etcd-ca.crt`,
  kubelets: `${folder}/kubelet-serving-ca.crt`,
  frontProxy: `${folder}/front-proxy-ca.crt`,
} as const;

export function apiServerFiles(
  authorities: Authorities,
  laptop: LaptopAuthorities['adminCa'],
): RenderedFile[] {
  return [
    publicFile(laptopAdminCa, laptop.certificate),
    publicFile(apiServerTrust.clients, clientBundle(authorities) + laptop.certificate),
    publicFile(apiServerTrust.etcd, authorities.etcd.certificate),
    publicFile(apiServerTrust.kubelets, authorities['kubelet-serving'].certificate),
    publicFile(apiServerTrust.frontProxy, authorities['front-proxy'].certificate),
    admissionFile(),
    authenticationFile(),
    encryptionFile(),
    auditPolicyFile(),
  ];
}

export function apiServerPod(input: KeylessInput): StaticPod {
  const { apiServerServing, apiServerEtcdClient, apiServerKubeletClient, frontProxyClient } =
    issuedLeaves;
  const args = flags({
    'secure-port': apiPort,
    // Must be of the primary service network's family, or the API server refuses to start. With
    // the default --bind-address it listens on all addresses of both families.
    'advertise-address': input.host.nodeIps[0],
    'tls-cert-file': apiServerServing.certificate,
    'tls-private-key-file': apiServerServing.key,
    ...siteCertificateFlag(input.cluster),
    'tls-min-version': 'VersionTLS12',
    'client-ca-file': apiServerTrust.clients,
    'authentication-config': authenticationConfigPath,
    // Workers request their first certificate with a token; without one there is nobody to be.
    'enable-bootstrap-token-auth': true,
    'authorization-mode': ['Node', 'RBAC'],
    'enable-admission-plugins': admissionPlugins,
    'admission-control-config-file': admissionConfigPath,
    'allow-privileged': true,
    profiling: false,

    'etcd-servers': etcdMember.clientUrl,
    'etcd-cafile': apiServerTrust.etcd,
    'etcd-certfile': apiServerEtcdClient.certificate,
    'etcd-keyfile': apiServerEtcdClient.key,
    'encryption-provider-config': encryptionConfigPath,
    // Events of the evening are still available in the morning.
    'event-ttl': '3h',

    'kubelet-certificate-authority': apiServerTrust.kubelets,
    'kubelet-client-certificate': apiServerKubeletClient.certificate,
    'kubelet-client-key': apiServerKubeletClient.key,
    'kubelet-preferred-address-types': ['InternalIP', 'Hostname'],

    'proxy-client-cert-file': frontProxyClient.certificate,
    'proxy-client-key-file': frontProxyClient.key,
    'requestheader-client-ca-file': apiServerTrust.frontProxy,
    'requestheader-allowed-names': [frontProxyClient.subject.commonName],
    'requestheader-username-headers': ['X-Remote-User'],
    'requestheader-group-headers': ['X-Remote-Group'],
    'requestheader-extra-headers-prefix': ['X-Remote-Extra-'],
    // Webhooks and aggregated APIs are reached at their pods' addresses, not through kube-proxy.
    'enable-aggregator-routing': true,

    'service-account-issuer': serviceAccount.issuer,
    'service-account-key-file': serviceAccount.publicKey,
    'service-account-signing-key-file': serviceAccount.privateKey,
    // A stolen token expires after an hour, instead of a year.
    'service-account-extend-token-expiration': false,
    'service-cluster-ip-range': input.cluster.serviceNetwork,

    ...auditFlags,

    // Clients are asked to retry instead of being refused; watches get time to reconnect.
    'shutdown-send-retry-after': true,
    'shutdown-watch-termination-grace-period': '5s',
    ...emulation(input),
  });
  const health = { port: apiPort, scheme: 'HTTPS' } as const;
  return staticPod(
    {
      component: 'kube-apiserver',
      role: 'api-server',
      args,
      mounts: [
        { path: folder },
        { path: paths.configOf('kube-apiserver') },
        { path: paths.serviceAccount },
        { path: paths.auditLogs, writable: true },
      ],
      requests: { cpu: '250m', memory: '512Mi' },
      live: { path: '/livez', ...health },
      ready: { path: '/readyz', ...health },
      // Requests in flight may take the default --request-timeout of 60 s.
      terminationGracePeriodSeconds: 75,
    },
    input,
  );
}
