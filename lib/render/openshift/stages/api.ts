import type { Argument, Copy, Stage } from '../stage.ts';
import { featureGate, generatedCloudConfig, infrastructure, renderedManifests } from './inputs.ts';

/**
 * The feature gate is completed by the stage that renders the API: its status has the gates of this
 * release, which the operators look up by the exact version of the payload.
 */
const completedFeatureGate: Copy = { from: featureGate, to: featureGate };
const apiArguments: readonly Argument[] = [
  '--rendered-manifest-dir=/assets/manifests',
  // The profile of every cluster that openshift-install makes.
  '--cluster-profile=self-managed-high-availability',
  '--payload-version={version}',
];

/** CRDs, the completed feature gate, the cloud configuration and the version operator. */
export const apiStages: readonly Stage[] = [
  {
    name: 'api-bootstrap',
    image: 'cluster-config-api',
    since: '4.15',
    command: ['/usr/bin/render', '--asset-output-dir=/assets/api-bootstrap', ...apiArguments],
    needs: [featureGate],
    makes: [featureGate],
    copies: [{ from: 'api-bootstrap/manifests', to: 'manifests' }, completedFeatureGate],
  },
  {
    name: 'auth-api-bootstrap',
    image: 'cluster-authentication-operator',
    since: '4.19',
    command: ['render', '--asset-output-dir=/assets/auth-api-bootstrap/manifests', ...apiArguments],
    needs: [featureGate],
    makes: [],
    copies: [{ from: 'auth-api-bootstrap/manifests', to: 'manifests' }],
  },
  {
    name: 'config-bootstrap',
    image: 'cluster-config-operator',
    command: [
      '/usr/bin/cluster-config-operator',
      'render',
      { argument: '--skip-api-rendering', since: '4.15' },
      `--cluster-infrastructure-input-file=/assets/${infrastructure}`,
      `--cloud-provider-config-output-file=/assets/${generatedCloudConfig}`,
      '--config-output-file=/assets/config-bootstrap/config',
      '--asset-input-dir=/assets/tls',
      '--asset-output-dir=/assets/config-bootstrap',
      ...renderedManifests,
      {
        argument: '--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml',
        ifPresent: 'manifests/cloud-provider-config.yaml',
      },
    ],
    needs: [featureGate, infrastructure],
    makes: [generatedCloudConfig, { path: featureGate, until: '4.14' }],
    copies: [
      { from: 'config-bootstrap/manifests', to: 'manifests', until: '4.14' },
      { ...completedFeatureGate, until: '4.14' },
      { from: generatedCloudConfig, to: generatedCloudConfig, optional: true },
    ],
  },
  {
    name: 'cvo-bootstrap',
    image: 'release',
    command: [
      'render',
      '--output-dir=/assets/cvo-bootstrap',
      '--release-image={release}',
      { argument: `--feature-gate-manifest-path=/assets/${featureGate}`, since: '4.18' },
      {
        argument: '--cluster-version-manifest-path=/assets/manifests/cvo-overrides.yaml',
        since: '4.22',
      },
    ],
    needs: [{ path: featureGate, since: '4.18' }],
    makes: [],
    copies: [
      { from: 'cvo-bootstrap/bootstrap', to: 'bootstrap-manifests' },
      { from: 'cvo-bootstrap/manifests', to: 'manifests' },
      { shared: 'auth/kubeconfig-loopback', to: '/etc/kubernetes/kubeconfig' },
    ],
  },
];
