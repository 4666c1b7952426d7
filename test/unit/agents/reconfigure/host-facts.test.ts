/** What identifies a node: for the hosts of a volume, and for the URL where it asks for one. */
import t from 'tap';
import { siteUrlOf } from '../../../../agents/reconfigure/ask-url.ts';
import { readHostFacts } from '../../../../agents/reconfigure/host-facts.ts';
import { knownNode } from '../../../../agents/reconfigure/known-node.ts';
import { readFactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { input } from '../../render/rendered-host.ts';
import { factoryHost, INTERNAL } from './site-host.ts';

t.test('what a site is judged by is what the host is', async (t) => {
  const host = await factoryHost(t);
  host.write('/sys/class/dmi/id/product_serial', ' CZ1234ABCD \n');
  for (const name of ['cni0', 'veth12', 'br-ex', 'ovn-k8s-mp0', 'docker0'])
    host.write(`/sys/class/net/${name}/address`, '52:54:00:00:00:01\n');
  host.write('/sys/class/net/eno2/address', '00:00:00:00:00:00\n');
  const policy = await readFactoryPolicy(host.paths);
  const node = policy && (await knownNode(host.paths, policy));
  if (policy === undefined || node === undefined) throw new Error('no factory');
  const { cluster } = input;
  t.strictSame(await readHostFacts(host.paths, node, policy), {
    apiVersion: 'sno-agents/v1',
    kind: 'HostFacts',
    controlPlane: 'kubernetes',
    clusterName: cluster.name,
    baseDomain: cluster.baseDomain,
    nodeName: 'edge-0',
    internalAddresses: [INTERNAL],
    clusterNetwork: cluster.clusterNetwork.map(({ cidr }) => cidr),
    serviceNetwork: cluster.serviceNetwork,
    adapters: ['eno1', 'eno2'],
    identifiers: ['cz1234abcd', '52:54:00:12:34:56'],
    recipient: policy.recipient,
  });
});

t.test('a serial number that many machines have is in no fact and in no URL', async (t) => {
  const host = await factoryHost(t);
  for (const [name, text] of Object.entries({
    product_serial: 'None',
    board_serial: 'Default string',
    chassis_serial: 'To Be Filled By O.E.M.',
    product_uuid: '03000200-0400-0500-0006-000700080009',
  })) {
    host.write(`/sys/class/dmi/id/${name}`, `${text}\n`);
  }
  const policy = await readFactoryPolicy(host.paths);
  const node = policy && (await knownNode(host.paths, policy));
  if (policy === undefined || node === undefined) throw new Error('no factory');
  const facts = () => readHostFacts(host.paths, node, policy);
  const { signal } = new AbortController();
  const url = async () =>
    (await siteUrlOf(host.paths, { siteUrl: 'https://f.test' }, await facts(), signal))?.url;
  t.same((await facts()).identifiers, ['52:54:00:12:34:56']);
  t.equal(await url(), 'https://f.test/52-54-00-12-34-56.site');
  host.write('/sys/class/dmi/id/chassis_serial', 'CZ1234ABCD\n');
  t.same((await facts()).identifiers, ['cz1234abcd', '52:54:00:12:34:56']);
  t.equal(await url(), 'https://f.test/cz1234abcd.site');
});
