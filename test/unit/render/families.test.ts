import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import type { NodeIps } from '../../../lib/base/network/node-ips.ts';
import { inspectCertificate } from '../../../lib/pki/certificate.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import type { Rendered } from '../../../lib/render/renderer.ts';
import { input } from './rendered-host.ts';

interface Case {
  name: string;
  nodeIps: NodeIps;
  clusterNetwork: { cidr: string; hostPrefix: number }[];
  serviceNetwork: string[];
  /** By `<component> <name>`; undefined: the flag must be absent. */
  flags: Record<string, string | undefined>;
  ipAddresses: string[];
  clusterDns: string;
  subnets: string[];
  routes: string[];
  /** Rules of address translation. */
  egress: string[];
}

const pods4 = { cidr: '10.128.0.0/14', hostPrefix: 23 };
const pods6 = { cidr: 'fd01::/48', hostPrefix: 64 };

const egress4 = 'ip saddr 10.128.0.0/14 ip daddr != { 10.128.0.0/14, 224.0.0.0/4 } masquerade';
const egress6 = 'ip6 saddr fd01::/48 ip6 daddr != { fd01::/48, ff00::/8 } masquerade';

const CASES: readonly Case[] = [
  {
    name: 'dual-stack, IPv4 first',
    nodeIps: ['192.0.2.10', '2001:db8::10'],
    clusterNetwork: [pods4, pods6],
    serviceNetwork: ['172.30.0.0/16', 'fd02::/112'],
    flags: {
      'kube-apiserver advertise-address': '192.0.2.10',
      'kube-apiserver bind-address': undefined,
      'kube-apiserver service-cluster-ip-range': '172.30.0.0/16,fd02::/112',
      'kube-controller-manager cluster-cidr': '10.128.0.0/14,fd01::/48',
      'kube-controller-manager node-cidr-mask-size-ipv4': '23',
      'kube-controller-manager node-cidr-mask-size-ipv6': '64',
    },
    ipAddresses: ['127.0.0.1', '::1', '192.0.2.10', '2001:db8::10', '172.30.0.1', 'fd02::1'],
    clusterDns: '172.30.0.10',
    subnets: ['10.128.0.0/23', 'fd01::/64'],
    routes: ['0.0.0.0/0', '::/0'],
    egress: [egress4, egress6],
  },
  {
    name: 'dual-stack, IPv6 first',
    nodeIps: ['2001:db8::10', '192.0.2.10'],
    clusterNetwork: [pods6, pods4],
    serviceNetwork: ['fd02::/112', '172.30.0.0/16'],
    flags: {
      'kube-apiserver advertise-address': '2001:db8::10',
      'kube-apiserver service-cluster-ip-range': 'fd02::/112,172.30.0.0/16',
      'kube-controller-manager cluster-cidr': 'fd01::/48,10.128.0.0/14',
    },
    ipAddresses: ['127.0.0.1', '::1', '2001:db8::10', '192.0.2.10', 'fd02::1', '172.30.0.1'],
    clusterDns: 'fd02::a',
    subnets: ['fd01::/64', '10.128.0.0/23'],
    routes: ['::/0', '0.0.0.0/0'],
    egress: [egress6, egress4],
  },
  {
    name: 'IPv6 alone',
    nodeIps: ['2001:db8::10'],
    clusterNetwork: [pods6],
    serviceNetwork: ['fd02::/112'],
    flags: {
      'kube-apiserver advertise-address': '2001:db8::10',
      'kube-apiserver service-cluster-ip-range': 'fd02::/112',
      'kube-controller-manager cluster-cidr': 'fd01::/48',
      'kube-controller-manager node-cidr-mask-size-ipv4': undefined,
      'kube-controller-manager node-cidr-mask-size-ipv6': '64',
    },
    ipAddresses: ['127.0.0.1', '::1', '2001:db8::10', 'fd02::1'],
    clusterDns: 'fd02::a',
    subnets: ['fd01::/64'],
    routes: ['::/0'],
    egress: [egress6],
  },
];

const podSchema = z.object({
  spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()) })]) }),
});
const cniSchema = z.object({
  plugins: z.array(
    z.object({
      ipam: z
        .object({
          ranges: z.array(z.tuple([z.object({ subnet: z.string() })])),
          routes: z.array(z.object({ dst: z.string() })),
        })
        .optional(),
    }),
  ),
});

/** By `<component> <name>`. */
function flagsOf({ staticPods }: Rendered): Map<string, string> {
  return new Map(
    staticPods.flatMap(({ component, manifest }) =>
      podSchema.parse(parse(manifest)).spec.containers[0].command.map((argument) => {
        const [name = '', ...value] = argument.replace(/^--/, '').split('=');
        return [`${component} ${name}`, value.join('=')] as const;
      }),
    ),
  );
}

for (const { name, nodeIps, clusterNetwork, serviceNetwork, ...expected } of CASES) {
  t.test(name, async (t) => {
    const rendered = await kubernetesRenderer.render({
      ...input,
      host: { ...input.host, nodeIps },
      cluster: { ...input.cluster, clusterNetwork, serviceNetwork },
    });
    const textAt = (path: string) =>
      rendered.files.find((file) => file.path === path)?.contents ?? '';

    const flags = flagsOf(rendered);
    for (const [flag, value] of Object.entries(expected.flags))
      t.equal(flags.get(flag), value, flag);

    const serving = inspectCertificate(textAt(flags.get('kube-apiserver tls-cert-file') ?? ''));
    t.same(serving.ipAddresses, expected.ipAddresses);
    const etcd = rendered.files.find(({ path }) => path.endsWith('/etcd/server.crt'));
    t.same(inspectCertificate(etcd?.contents ?? '').ipAddresses, ['127.0.0.1', '::1']);

    t.match(parse(textAt('/etc/kubernetes/kubelet.yaml')), { clusterDNS: [expected.clusterDns] });
    const [bridge] = cniSchema.parse(JSON.parse(textAt('/etc/cni/net.d/10-sno.conflist'))).plugins;
    t.same(
      Array.from(
        textAt('/etc/sno-agents/pod-egress.nft').matchAll(/^ +(ip6? saddr .* masquerade)$/gm),
        ([, rule]) => rule,
      ),
      expected.egress,
      'to other pods without address translation',
    );
    t.same(
      bridge?.ipam?.ranges.map(([{ subnet }]) => subnet),
      expected.subnets,
    );
    t.same(
      bridge?.ipam?.routes.map(({ dst }) => dst),
      expected.routes,
    );
  });
}
