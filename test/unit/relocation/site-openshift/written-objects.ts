/** What a site that says everything makes of an installed cluster: the requests, and the objects. */
import { createHash } from 'node:crypto';
import { INSTALLED } from './installed-objects.ts';
import { base64, IDENTITY, PASSWORD, placeOf, SSH_KEY, TRUST } from './site-api.ts';

const CONFIG = '/apis/config.openshift.io/v1';
const MACHINE = '/apis/machineconfiguration.openshift.io/v1/machineconfigs';
const SECRETS = '/api/v1/namespaces/openshift-config/secrets';
const BUNDLES = '/api/v1/namespaces/openshift-config/configmaps';
const CONTROLLER =
  '/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default';
const POLICIES = '/apis/operator.openshift.io/v1alpha1/imagecontentsourcepolicies';

/** First what others refer to; then what restarts the node; then the names; who is refused from then on last. */
export const ORDER = [
  `POST ${SECRETS}`,
  `POST ${SECRETS}`,
  'POST /api/v1/namespaces/openshift-ingress/secrets',
  `POST ${BUNDLES}`,
  'PUT /api/v1/namespaces/kube-system/secrets/kubeadmin',
  `PUT ${SECRETS}/pull-secret`,
  `POST ${CONFIG}/imagedigestmirrorsets`,
  `POST ${CONFIG}/imagetagmirrorsets`,
  `DELETE ${CONFIG}/imagedigestmirrorsets/image-digest-mirror`,
  `DELETE ${POLICIES}/image-policy`,
  `PUT ${MACHINE}/99-master-ssh`,
  `POST ${MACHINE}`,
  `PUT ${CONFIG}/proxies/cluster`,
  `PUT ${CONTROLLER}`,
  `PUT ${CONFIG}/ingresses/cluster`,
  `PUT ${CONFIG}/apiservers/cluster`,
  `PUT ${BUNDLES}/admin-kubeconfig-client-ca`,
];

export const SAID = [
  'Secret openshift-config/sno-site-api',
  'Secret openshift-config/sno-site-ingress',
  'Secret openshift-ingress/sno-site-ingress',
  'ConfigMap openshift-config/user-ca-bundle',
  'Secret kube-system/kubeadmin',
  'Secret openshift-config/pull-secret',
  'ImageDigestMirrorSet sno-site',
  'ImageTagMirrorSet sno-site',
  'other ImageDigestMirrorSets',
  'ImageContentSourcePolicies',
  'MachineConfig 99-master-ssh',
  'MachineConfig 99-master-sno-site-time',
  'Proxy cluster',
  'IngressController default',
  'Ingress cluster',
  'APIServer cluster',
  'ConfigMap openshift-config/admin-kubeconfig-client-ca',
];

const tls = (namespace: string, name: string, of: 'api' | 'ingress') => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { namespace, name },
  data: { 'tls.crt': base64(IDENTITY[of].certificate), 'tls.key': base64(IDENTITY[of].key) },
});
const bundle = (name: string, text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'openshift-config', name },
  data: { 'ca-bundle.crt': text },
});
const APPS = 'apps.sno.site.test';
const secret = { name: 'sno-site-ingress' };
const config = 'config.openshift.io/v1';
const mirrors = (kind: string, field: string, ...entries: readonly [string, string, string]) => ({
  apiVersion: config,
  kind,
  metadata: { name: 'sno-site' },
  spec: {
    [field]: [{ source: entries[0], mirrors: [entries[1]], mirrorSourcePolicy: entries[2] }],
  },
});
const machineConfig = (name: string, more: object) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name, labels: { 'machineconfiguration.openshift.io/role': 'master' } },
  spec: { config: { ignition: { version: '3.2.0' }, ...more } },
});
const CHRONY = [
  'server ntp.site.test iburst',
  'sourcedir /run/chrony-dhcp',
  'driftfile /var/lib/chrony/drift',
  'makestep 1.0 3',
  'rtcsync',
  'logdir /var/log/chrony',
  '',
].join('\n');

const AT_SITE = [
  tls('openshift-config', 'sno-site-api', 'api'),
  tls('openshift-config', 'sno-site-ingress', 'ingress'),
  tls('openshift-ingress', 'sno-site-ingress', 'ingress'),
  bundle('user-ca-bundle', TRUST),
  bundle('admin-kubeconfig-client-ca', IDENTITY.administrators),
  {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { namespace: 'kube-system', name: 'kubeadmin' },
    data: { kubeadmin: base64(PASSWORD) },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/dockerconfigjson',
    metadata: { namespace: 'openshift-config', name: 'pull-secret' },
    data: { '.dockerconfigjson': base64('{"auths":{"site.test":{"auth":"YTpi"}}}') },
  },
  mirrors(
    'ImageDigestMirrorSet',
    'imageDigestMirrors',
    'quay.test/ocp',
    'registry.site.test/ocp',
    'NeverContactSource',
  ),
  mirrors(
    'ImageTagMirrorSet',
    'imageTagMirrors',
    'quay.test/tools',
    'registry.site.test/tools',
    'AllowContactingSource',
  ),
  machineConfig('99-master-ssh', {
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: [SSH_KEY] }] },
  }),
  machineConfig('99-master-sno-site-time', {
    storage: {
      files: [
        {
          path: '/etc/chrony.conf',
          mode: 0o644,
          overwrite: true,
          contents: {
            source: `data:,${encodeURIComponent(CHRONY)}`,
            verification: { hash: `sha512-${createHash('sha512').update(CHRONY).digest('hex')}` },
          },
        },
      ],
    },
  }),
  {
    apiVersion: config,
    kind: 'Proxy',
    metadata: { name: 'cluster' },
    spec: {
      httpProxy: 'http://proxy.site.test:3128',
      httpsProxy: 'http://tls.site.test:3129',
      noProxy: '.site.test,.sno.site.test',
      trustedCA: { name: 'user-ca-bundle' },
    },
  },
  {
    apiVersion: 'operator.openshift.io/v1',
    kind: 'IngressController',
    metadata: { namespace: 'openshift-ingress-operator', name: 'default' },
    spec: { replicas: 1, defaultCertificate: secret },
  },
  {
    apiVersion: config,
    kind: 'Ingress',
    metadata: { name: 'cluster' },
    spec: {
      domain: 'apps.sno.factory.test',
      loadBalancer: { platform: { type: '' } },
      appsDomain: APPS,
      componentRoutes: [
        ['openshift-console', 'console', 'console-openshift-console'],
        ['openshift-console', 'downloads', 'downloads-openshift-console'],
        ['openshift-authentication', 'oauth-openshift', 'oauth-openshift'],
      ].map(([namespace, name, label]) => ({
        ...{ namespace, name, hostname: `${label}.${APPS}`, servingCertKeyPairSecret: secret },
      })),
    },
  },
  {
    apiVersion: config,
    kind: 'APIServer',
    metadata: { name: 'cluster' },
    spec: {
      audit: { profile: 'Default' },
      servingCerts: {
        namedCertificates: [
          { names: ['api.sno.site.test'], servingCertificate: { name: 'sno-site-api' } },
        ],
      },
    },
  },
];

/** Of the factory, and not at the site. */
const GONE = ['image-digest-mirror', 'image-policy'];
export const WANTED = Object.fromEntries(
  [
    ...INSTALLED.filter(
      (object) =>
        !GONE.includes(object.metadata.name) &&
        !AT_SITE.some((each) => placeOf(each) === placeOf(object)),
    ),
    ...AT_SITE,
  ]
    .map((object) => [placeOf(object), object])
    .toSorted(),
);
