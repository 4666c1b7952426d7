import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import { everyAddOn, inputWith, objectOf, podSpecSchema } from './addon-objects.ts';
import { input } from './rendered-host.ts';

const specSchema = z.looseObject({ template: z.looseObject({ spec: podSpecSchema }) });
const pods4 = { cidr: '10.128.0.0/14', hostPrefix: 23 };
const pods6 = { cidr: 'fd01::/48', hostPrefix: 64 };

const withNetworks = (...clusterNetwork: (typeof pods4)[]) =>
  kubernetesRenderer.render(
    inputWith(['flannel'], { ...input, cluster: { ...input.cluster, clusterNetwork } }),
  );

const podSpecOf = (rendered: Awaited<ReturnType<typeof withNetworks>>) =>
  specSchema.parse(objectOf('flannel', 'DaemonSet', rendered).spec).template.spec;

for (const [title, networks, expected, hasInterface] of [
  ['IPv4', [pods4], { EnableIPv4: true, Network: pods4.cidr }, true],
  ['IPv6', [pods6], { EnableIPv4: false, EnableIPv6: true, IPv6Network: pods6.cidr }, true],
  [
    'dual-stack, IPv4 first',
    [pods4, pods6],
    { EnableIPv4: true, Network: pods4.cidr, EnableIPv6: true, IPv6Network: pods6.cidr },
    true,
  ],
  [
    // It would take the address as that of the other family.
    'dual-stack, IPv6 first',
    [pods6, pods4],
    { EnableIPv4: true, Network: pods4.cidr, EnableIPv6: true, IPv6Network: pods6.cidr },
    false,
  ],
] as const) {
  t.test(`routes of ${title}, without encapsulation`, async (t) => {
    const rendered = await withNetworks(...networks);
    const { data } = objectOf('flannel', 'ConfigMap', rendered);
    t.same(JSON.parse(data?.['net-conf.json'] ?? ''), {
      ...expected,
      Backend: { Type: 'host-gw' },
    });
    const [{ args }] = podSpecOf(rendered).containers;
    t.equal(z.array(z.string()).parse(args).includes('--iface=$(NODE_IP)'), hasInterface);
  });
}

t.test(
  'it changes routes, and neither address translation nor the status of its Node',
  async (t) => {
    const { containers } = podSpecOf(await kubernetesRenderer.render(everyAddOn));
    const [{ args, command, env }] = containers;
    t.equal(command, undefined, 'images have the program in different folders');
    const given = z.array(z.string()).parse(args);
    for (const flag of ['ip-masq', 'iptables-forward-rules', 'set-node-network-unavailable']) {
      t.ok(given.includes(`--${flag}=false`), flag);
    }
    t.ok(given.includes('--kube-subnet-mgr'), 'subnets are those of the controller-manager');
    t.match(env, [
      { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    ]);
    const { data } = objectOf('flannel', 'ConfigMap');
    const { clusters } = parse(data?.['kubeconfig.yaml'] ?? '');
    t.equal(
      clusters[0].cluster.server,
      'https://127.0.0.1:6443',
      'needs neither DNS nor a Service',
    );
  },
);

t.test('a host alone has no pod of it, not even before its Node has labels', async (t) => {
  const { affinity, tolerations } = podSpecOf(await kubernetesRenderer.render(everyAddOn));
  t.same(tolerations, [{ operator: 'Exists' }]);
  t.same(affinity, {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        // Any of these.
        nodeSelectorTerms: [
          {
            matchFields: [
              { key: 'metadata.name', operator: 'NotIn', values: [everyAddOn.host.hostname] },
            ],
          },
          { matchExpressions: [{ key: 'sno-agents/routed-pods', operator: 'Exists' }] },
        ],
      },
    },
  });
});

t.test('its right to patch Nodes is limited by a policy that is in force', async (t) => {
  const policy = objectOf('flannel', 'ValidatingAdmissionPolicy');
  t.match(policy.spec, { failurePolicy: 'Fail' });
  t.match(objectOf('flannel', 'ValidatingAdmissionPolicyBinding').spec, {
    policyName: policy.metadata.name,
    validationActions: ['Deny'],
  });
});
