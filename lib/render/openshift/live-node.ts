import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { HostFacts, RenderedFile } from '../renderer.ts';
import { imageOf } from './command.ts';
import { paths } from './paths.ts';
import type { PulledRelease } from './release.ts';

/** Named in the live host's kubelet.service (units of a host that was taken over). */
const kubeletConfig = `${paths.kubernetes}/kubelet-live.yaml`;
/** As in openshift-install's flow. */
const runtimeConfig = '/etc/crio/crio.conf.d/50-bootstrap-override.conf';

/**
 * What the live host needs to run static pods: the kubelet's configuration and the pause image.
 * `rootIsOverlay`: the kubelet cannot measure the usage of `/`.
 */
export function liveNodeFiles(
  release: PulledRelease,
  { rootIsOverlay }: Pick<HostFacts, 'rootIsOverlay'>,
): RenderedFile[] {
  return [
    {
      path: kubeletConfig,
      mode: 0o644,
      uses: ['standalone-kubelet'],
      contents: writeGoYaml({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        staticPodPath: paths.staticPods,
        containerRuntimeEndpoint: 'unix:///var/run/crio/crio.sock',
        volumePluginDir: '/etc/kubernetes/kubelet-plugins/volume/exec',
        cgroupDriver: 'systemd',
        // Without an API server no client can be authorized: it serves nothing.
        enableServer: false,
        // It builds an authenticator nevertheless, and refuses to start without a method.
        authentication: {
          anonymous: { enabled: false },
          webhook: { enabled: false },
          x509: { clientCAFile: `${paths.secrets}/kube-apiserver-complete-client-ca-bundle.crt` },
        },
        authorization: { mode: 'AlwaysAllow' },
        // As in openshift-install's flow: several images are pulled for the first pods.
        serializeImagePulls: false,
        runtimeRequestTimeout: '10m',
        // A live host keeps all images, however full its memory is.
        imageGCHighThresholdPercent: 100,
        imageGCLowThresholdPercent: 99,
        ...(rootIsOverlay ? { localStorageCapacityIsolation: false } : {}),
      }),
    },
    {
      path: runtimeConfig,
      mode: 0o644,
      uses: ['standalone-kubelet'],
      contents: `[crio.image]\npause_image = ${JSON.stringify(imageOf(release, 'pod'))}\npause_command = "/usr/bin/pod"\n`,
    },
  ];
}
