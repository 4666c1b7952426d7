/** `sno fleet import --cluster-instances`: siteconfig's own documents as the table. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { sno } from '../run-sno.ts';

const instance = (name: string, mac: string, more = '') => `
apiVersion: siteconfig.open-cluster-management.io/v1alpha1
kind: ClusterInstance
metadata:
  name: ${name}
  namespace: ${name}
  labels: {wave: "1"}
  annotations: {fleet.sno-agents.io/host-facts: facts-${name}}
spec:
  clusterName: ${name}
  baseDomain: example.com
  clusterImageSetNameRef: img4.19
  pullSecretRef: {name: pull}
  sshPublicKey: ssh-ed25519 AAAA x
  machineNetwork: [{cidr: 192.0.2.0/24}, {cidr: 2001:db8::/64}]
  nodes:
  - hostName: ${name}.example.com
    bmcAddress: redfish-virtualmedia+https://198.51.100.7/redfish/v1/Systems/1
    bmcCredentialsName: {name: bmc}
    bootMACAddress: "${mac}"
    nodeNetwork:
      config: {interfaces: [{name: eno1, type: ethernet}]}
${more}`;

const importing = (t: Test, text: string, more: readonly string[] = []) => {
  const path = join(t.testdir({ 'instances.yaml': text }), 'instances.yaml');
  return sno(['fleet', 'import', '--cluster-instances', path, '--template', 'shop', ...more]);
};

t.test('what maps to values, and what does not', async (t) => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: bmc}\n';
  const text = [
    instance('berlin', 'AA:00:00:00:00:01'),
    secret,
    instance('rome', 'aa:00:00:00:00:02'),
  ];
  const { code, out, err } = await importing(t, text.join('---\n'), ['--json']);
  t.equal(code, 0, err);
  const { items }: { items: object[] } = JSON.parse(out);
  t.equal(items.length, 2, 'other kinds are passed over');
  t.match(items[0], {
    metadata: { name: 'berlin', namespace: 'sno-fleet', labels: { wave: '1' } },
    spec: {
      hostFactsRef: { name: 'facts-berlin' },
      delivery: { by: 'virtualMedia', bareMetalHost: { name: 'berlin.example.com' } },
      values: {
        clusterName: 'berlin',
        baseDomain: 'example.com',
        hostName: 'berlin.example.com',
        machine: 'AA:00:00:00:00:01',
        machineNetwork: '192.0.2.0/24',
        sshPublicKey: 'ssh-ed25519 AAAA x',
      },
    },
  });
  for (const field of [
    'spec.clusterImageSetNameRef',
    'spec.pullSecretRef.name',
    'spec.machineNetwork.cidr',
    'spec.nodes.bmcCredentialsName',
    'spec.nodes.nodeNetwork',
  ]) {
    t.match(err, `${field} of 2 ClusterInstances becomes no value`);
  }
  t.equal(err.match(/becomes no value/g)?.length, 5, err);
  t.match(err, /in the namespace of its Site, sno-fleet; .*elsewhere: berlin, rome/);
});

t.test('refused, with nothing printed', async (t) => {
  const again = instance('berlin', 'aa:00:00:00:00:01');
  const two = instance('two', 'aa:00:00:00:00:03', '  - hostName: second\n');
  for (const [text, says] of [
    ['', /expected ClusterInstances, found none/],
    ['kind: Site\n', /expected ClusterInstances, found none/],
    ['a: [\n', /line \d/],
    [`${again}---\n${again}`, /the ClusterInstance berlin is there twice/],
    [
      `${again}---\n${instance('rome', 'AA:00:00:00:00:01')}`,
      /machine: the machine .* is that of line/,
    ],
    [two, /spec\.nodes: expected one node/],
    [
      again.replace('sshPublicKey: ', 'sshPublicKey: https://u:pw@x'),
      /sshPublicKey has something secret/,
    ],
  ] as const) {
    const { code, out, err } = await importing(t, text);
    t.equal(code, 2, err);
    t.equal(out, '');
    t.match(err, says);
  }
  const both = await importing(t, again, ['--table', 'sites.csv']);
  t.match(both.err, /either --table or --cluster-instances/);
  const none = await sno(['fleet', 'import', '--template', 'x']);
  t.match(none.err, /either --table or --cluster-instances/);
});

t.test('a list, as kubectl get -o yaml prints it', async (t) => {
  const item = instance('berlin', 'aa:00:00:00:00:01').trim().replaceAll('\n', '\n  ');
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${item}\n  status: {conditions: [{type: X}]}\n`;
  const { code, out, err } = await importing(t, list, ['--json']);
  t.equal(code, 0, err);
  t.match(JSON.parse(out), { items: [{ metadata: { name: 'berlin' } }] });
  t.notMatch(err, /status/);
});
