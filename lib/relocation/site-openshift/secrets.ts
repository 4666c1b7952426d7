import { Failure } from '../../base/errors/failure.ts';
import { resources } from '../../clients/kube/resources.ts';
import type { KeyPair } from '../../pki/authority.ts';
import { ADMIN_CLIENT_CA, BUNDLE_KEY, CONFIG, INGRESS, SITE, USER_CA_BUNDLE } from './names.ts';
import { openShiftResources, type SecretObject } from './resources.ts';
import { changed, present, type SiteWrite } from './site-write.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The certificates that the site's names show: everything that names them afterwards finds them. */
export const certificateWrites = (api: KeyPair, ingress: KeyPair): SiteWrite[] => [
  tlsSecret(CONFIG, SITE.apiSecret, api),
  // Of console, downloads and OAuth; and of the router, which reads in its own namespace only.
  tlsSecret(CONFIG, SITE.ingressSecret, ingress),
  tlsSecret(INGRESS, SITE.ingressSecret, ingress),
];

const tlsSecret = (namespace: string, name: string, { certificate, key }: KeyPair): SiteWrite =>
  present(
    `Secret ${namespace}/${name}`,
    openShiftResources.secrets,
    { namespace, name },
    (found) => ({
      ...(found ?? {
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls' },
        metadata: { namespace, name },
      }),
      data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
    }),
  );

/** From then on, whoever the earlier authority has signed is refused. */
export const administrators = (authority: string): SiteWrite => bundle(ADMIN_CLIENT_CA, authority);

/** What the node and the cluster's own clients trust in addition. */
export const trustBundle = (certificates: string): SiteWrite =>
  bundle(USER_CA_BUNDLE, certificates);

const bundle = (name: string, contents: string): SiteWrite =>
  present(
    `ConfigMap ${CONFIG}/${name}`,
    resources.configMaps,
    { namespace: CONFIG, name },
    (found) => ({
      ...(found ?? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: CONFIG, name } }),
      data: { [BUNDLE_KEY]: contents },
    }),
  );

/** @param pullSecret JSON */
export const pullSecret = (pullSecret: string): SiteWrite => {
  const place = { namespace: CONFIG, name: 'pull-secret' };
  return changed(`Secret ${CONFIG}/${place.name}`, openShiftResources.secrets, place, (found) => ({
    ...found,
    data: { '.dockerconfigjson': base64(pullSecret) },
  }));
};

/**
 * The password of kubeadmin. The OAuth server takes no such Secret that is more than an hour younger than its namespace
 * (openshift/library-go, pkg/authentication/bootstrapauthenticator): what was deleted cannot come back.
 *
 * @param hash bcrypt
 */
export const kubeadmin = (hash: string): SiteWrite => {
  const place = { namespace: 'kube-system', name: 'kubeadmin' };
  return present('Secret kube-system/kubeadmin', openShiftResources.secrets, place, (found) => {
    if (found === undefined) throw withoutKubeadmin();
    return { ...found, data: { kubeadmin: base64(hash) } } satisfies SecretObject;
  });
};

const withoutKubeadmin = (): Failure =>
  new Failure('fatal', 'the cluster has no user kubeadmin any more', {
    code: 'reconfigure-refused',
    expected: 'the Secret kube-system/kubeadmin of the installation',
    found: 'none, and OpenShift accepts no later one',
    fix: 'Remove kubeadmin_password_hash from the site configuration.',
  });
