/** What an installation of OpenShift leaves of the kinds that a site changes; its domain is sno.factory.test. */
import type { Stored } from '../../clients/kube/stored-writes.ts';

export interface SiteObject extends Stored {
  readonly apiVersion: string;
  readonly kind: string;
}

const config = 'config.openshift.io/v1';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const condition = (type: string, status: string, message = '') => ({
  ...{ type, status, message, reason: 'AsExpected' },
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

export const INSTALLED: readonly SiteObject[] = [
  {
    apiVersion: config,
    kind: 'Ingress',
    metadata: { name: 'cluster' },
    spec: { domain: 'apps.sno.factory.test', loadBalancer: { platform: { type: '' } } },
  },
  {
    apiVersion: config,
    kind: 'APIServer',
    metadata: { name: 'cluster' },
    spec: { audit: { profile: 'Default' } },
  },
  { apiVersion: config, kind: 'Proxy', metadata: { name: 'cluster' }, spec: {} },
  {
    apiVersion: 'operator.openshift.io/v1',
    kind: 'IngressController',
    metadata: { namespace: 'openshift-ingress-operator', name: 'default' },
    spec: { replicas: 1 },
  },
  {
    apiVersion: 'operator.openshift.io/v1',
    kind: 'OpenShiftAPIServer',
    metadata: { name: 'cluster' },
    spec: {
      managementState: 'Managed',
      observedConfig: { routingConfig: { subdomain: 'apps.sno.factory.test' } },
    },
  },
  {
    apiVersion: config,
    kind: 'ClusterOperator',
    metadata: { name: 'openshift-apiserver' },
    spec: {},
    status: { conditions: [condition('Progressing', 'False')] },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/dockerconfigjson',
    metadata: { namespace: 'openshift-config', name: 'pull-secret' },
    data: { '.dockerconfigjson': base64('{"auths":{"factory.test":{"auth":"YTpi"}}}') },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { namespace: 'kube-system', name: 'kubeadmin' },
    data: { kubeadmin: base64('$2a$10$factory') },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'openshift-config', name: 'admin-kubeconfig-client-ca' },
    data: { 'ca-bundle.crt': 'of the factory' },
  },
  {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: {
      name: '99-master-ssh',
      labels: { 'machineconfiguration.openshift.io/role': 'master' },
    },
    spec: {
      config: {
        ignition: { version: '3.2.0' },
        passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA factory'] }] },
      },
    },
  },
  {
    apiVersion: config,
    kind: 'ImageDigestMirrorSet',
    metadata: { name: 'image-digest-mirror' },
    spec: { imageDigestMirrors: [{ source: 'quay.test/ocp', mirrors: ['factory.test/ocp'] }] },
  },
  {
    apiVersion: 'operator.openshift.io/v1alpha1',
    kind: 'ImageContentSourcePolicy',
    metadata: { name: 'image-policy' },
    spec: { repositoryDigestMirrors: [{ source: 'quay.test/ocp', mirrors: ['factory.test/ocp'] }] },
  },
];
