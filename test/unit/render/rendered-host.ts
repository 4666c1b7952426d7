import { parse } from 'yaml';
import { z } from 'zod';
import { createLaptopAuthorities } from '../../../lab/certificates/signed-now.ts';
import type { InstallableCluster } from '../../../lib/config/cluster/cluster.ts';
import type { KeyPair } from '../../../lib/pki/authority.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import type { HostFacts, RenderInput } from '../../../lib/render/renderer.ts';
import { cluster } from '../agents/host/cluster.ts';

const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
export const host: HostFacts = {
  hostname: 'edge-0',
  nodeIps: ['192.0.2.10'],
  cgroupDriver: 'systemd',
  cgroupVersion: 2,
  containerRuntime: 'containerd',
  rootIsOverlay: false,
  resolvConf: '/etc/resolv.conf',
  images: Object.fromEntries(components.map((name) => [name, `example.test/${name}:1`])),
  versions: { kubernetes: '1.34.4', etcd: '3.6.8' },
};
export const authorities = await createLaptopAuthorities();
export const input: RenderInput & { readonly cluster: InstallableCluster } = {
  cluster,
  host,
  authorities,
  deferredGroups: ['volumes.example.test'],
};
export const rendered = await kubernetesRenderer.render(input);
export const byPath = new Map(rendered.files.map((file) => [file.path, file]));

const podSchema = z.object({
  spec: z.object({
    hostNetwork: z.literal(true),
    priorityClassName: z.literal('system-node-critical'),
    containers: z.tuple([
      z.object({
        name: z.string(),
        command: z.array(z.string()),
        securityContext: z.unknown(),
        volumeMounts: z.array(z.object({ mountPath: z.string(), readOnly: z.boolean() })),
        startupProbe: z.unknown(),
        livenessProbe: z.unknown(),
        readinessProbe: z.unknown(),
      }),
    ]),
    volumes: z.array(z.object({ hostPath: z.object({ path: z.string(), type: z.string() }) })),
  }),
});
export const pods = rendered.staticPods.map(({ component, manifest }) => {
  const { spec } = podSchema.parse(parse(manifest));
  return { component, spec, container: spec.containers[0] };
});

export function textAt(path: string): string {
  const file = byPath.get(path);
  if (file === undefined) throw new Error(`${path} is not rendered`);
  return file.contents;
}

/** The host's own authority of the API server. */
export const servingPair: KeyPair = {
  certificate: textAt(authorityPaths('serving').certificate),
  key: textAt(authorityPaths('serving').key),
};

export function flagsOf(component: string): Map<string, string> {
  const command = pods.find((pod) => pod.component === component)?.container.command ?? [];
  return new Map(
    command.slice(1).map((flag) => {
      const [name = '', ...value] = flag.replace(/^--/, '').split('=');
      return [name, value.join('=')];
    }),
  );
}
