import type { Copy, Stage } from '../stage.ts';
import { clusterConfig, featureGate, generatedCloudConfig, infrastructure } from './inputs.ts';

/** Load balancers and name servers that the machine-config operator runs on some platforms. */
const platformPods: readonly Copy[] = [
  ...['baremetal', 'openstack', 'ovirt', 'vsphere', 'nutanix', 'gcp', 'aws'],
].flatMap((platform) => [
  {
    from: `mco-bootstrap/${platform}/manifests`,
    to: '/etc/kubernetes/manifests',
    optional: true as const,
  },
  {
    from: `mco-bootstrap/${platform}/static-pod-resources`,
    to: '/etc/kubernetes/static-pod-resources',
    optional: true as const,
  },
]);

/** Ingress, the node's tuning and configuration, cloud credentials. */
export const nodeStages: readonly Stage[] = [
  {
    name: 'ingress-operator-bootstrap',
    image: 'cluster-ingress-operator',
    command: [
      'render',
      '--prefix=cluster-ingress-',
      '--output-dir=/assets/ingress-operator-manifests',
    ],
    needs: [],
    makes: [],
    copies: [{ from: 'ingress-operator-manifests', to: 'manifests' }],
  },
  {
    name: 'node-tuning-bootstrap',
    image: 'cluster-node-tuning-operator',
    command: [
      'render',
      '--asset-input-dir=/assets/manifests',
      '--asset-output-dir=/assets/node-tuning-bootstrap',
    ],
    needs: [featureGate],
    makes: ['node-tuning-bootstrap'],
    // Nothing without a PerformanceProfile.
    copies: [{ from: 'node-tuning-bootstrap', to: 'manifests', optional: true }],
  },
  {
    name: 'cmdbootline-nto-bootstrap',
    image: 'cluster-node-tuning-operator',
    since: '4.16',
    // Runs tuned, which would otherwise tune the live host.
    environment: { CLUSTER_NODE_TUNED_BOOTSTRAP_SAFE_ENV: 'true' },
    hostFolders: [
      '/etc/modprobe.d',
      '/etc/sysconfig',
      '/etc/kubernetes',
      '/etc/sysctl.d',
      '/etc/systemd',
      '/run',
      '/sys',
      '/lib/modules',
      '/var/lib/kubelet',
      '/usr/lib/tuned',
      '/etc/tuned',
    ],
    command: [
      'render-bootcmd-mc',
      '--asset-input-dir=/assets/manifests',
      '--asset-output-dir=/assets/cmdbootline-nto-bootstrap',
      '--mcp-name=master',
    ],
    needs: ['node-tuning-bootstrap'],
    makes: [],
    copies: [{ from: 'cmdbootline-nto-bootstrap', to: 'manifests', optional: true }],
  },
  {
    name: 'mco-bootstrap',
    image: 'machine-config-operator',
    user: 'root',
    command: [
      'bootstrap',
      '--root-ca=/assets/tls/root-ca.crt',
      '--kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt',
      `--config-file=/assets/${clusterConfig}`,
      '--dest-dir=/assets/mco-bootstrap',
      '--pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml',
      '--release-image={release}',
      '--image-references=/assets/image-references',
      '--payload-version={version}',
      {
        argument: '--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem',
        ifPresent: 'tls/cloud-ca-cert.pem',
      },
      {
        argument: `--cloud-config-file=/assets/${generatedCloudConfig}`,
        ifPresent: 'manifests/cloud-provider-config.yaml',
      },
      {
        argument: '--cloud-lb-config-file=/assets/manifests/openshift-lbconfig-custom-dns.yaml',
        ifPresent: 'manifests/openshift-lbconfig-custom-dns.yaml',
        since: '4.15',
      },
    ],
    needs: [
      featureGate,
      clusterConfig,
      infrastructure,
      'manifests/openshift-config-secret-pull-secret.yaml',
      'tls/root-ca.crt',
      'tls/kube-apiserver-complete-client-ca-bundle.crt',
      'image-references',
      generatedCloudConfig,
    ],
    makes: [],
    copies: [
      // The bootstrap machine-config controller renders from these: the controller's configuration,
      // the pools, the installer's and the tuning's MachineConfigs, mirrors and the feature gate.
      { from: 'mco-bootstrap/bootstrap/manifests', to: '/etc/mcc/bootstrap' },
      { shared: 'manifests', to: '/etc/mcc/bootstrap' },
      { shared: 'auth/kubeconfig-kubelet', to: '/etc/mcs/kubeconfig' },
      { shared: 'tls/machine-config-server.crt', to: '/etc/ssl/mcs/tls.crt' },
      { shared: 'tls/machine-config-server.key', to: '/etc/ssl/mcs/tls.key' },
      {
        from: 'mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml',
        to: '/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml',
      },
      ...platformPods,
      { from: 'mco-bootstrap/manifests', to: 'manifests' },
    ],
  },
  {
    name: 'cco-bootstrap',
    image: 'cloud-credential-operator',
    user: 'root',
    command: [
      'render',
      '--dest-dir=/assets/cco-bootstrap',
      '--manifests-dir=/assets/manifests',
      '--cloud-credential-operator-image={image:cloud-credential-operator}',
    ],
    needs: [],
    makes: [],
    // Nothing if the capability is disabled.
    copies: [
      { from: 'cco-bootstrap/manifests', to: 'manifests', optional: true },
      {
        from: 'cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml',
        to: 'bootstrap-manifests/cloud-credential-operator-pod.yaml',
        optional: true,
      },
    ],
  },
];
