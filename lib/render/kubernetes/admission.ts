import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { RenderedFile } from '../renderer.ts';
import { publicFile } from './files.ts';
import { paths } from './paths.ts';

export const admissionConfigPath = `${paths.configOf('kube-apiserver')}/admission.yaml`;

/** In addition to Kubernetes' own defaults, PodSecurity among them. */
export const admissionPlugins = [
  'NodeRestriction',
  // Otherwise, whoever may create a Service can redirect traffic for any address to it.
  'DenyServiceExternalIPs',
];

/**
 * Pods in a namespace without a label of its own must meet the baseline: no hostPath, no host
 * namespaces, no privileged container. Without this, every editor of a namespace is root on the
 * host. A cluster administrator exempts a namespace with the label
 * pod-security.kubernetes.io/enforce.
 */
const configuration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: {
          enforce: 'baseline',
          'enforce-version': 'latest',
          audit: 'restricted',
          'audit-version': 'latest',
          warn: 'restricted',
          'warn-version': 'latest',
        },
        // Static pods, network plugins and kube-proxy run there.
        exemptions: { namespaces: ['kube-system'], usernames: [], runtimeClasses: [] },
      },
    },
  ],
};

export function admissionFile(): RenderedFile {
  return publicFile(admissionConfigPath, writeGoYaml(configuration));
}
