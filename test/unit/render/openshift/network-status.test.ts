import t from 'tap';
import { parse, stringify } from 'yaml';
import { withNetworkStatus } from '../../../../lib/render/openshift/network-status.ts';

const FILE = 'cluster-network-02-config.yml';
const spec = {
  clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
  serviceNetwork: ['172.30.0.0/16'],
  networkType: 'OVNKubernetes',
  networkDiagnostics: { mode: '' },
};
const network = (more: object) =>
  stringify({ apiVersion: 'config.openshift.io/v1', kind: 'Network', spec, ...more });

const completed = (contents: string, name = FILE) =>
  withNetworkStatus([{ name, contents }])[0]?.contents ?? '';

t.test('the status has the networks that the user asked for', async (t) => {
  for (const status of [undefined, {}, null]) {
    const { networkDiagnostics: _, ...networks } = spec;
    const { status: written, ...rest } = parse(completed(network({ status })));
    t.same(written, networks, JSON.stringify(status));
    t.same(rest, parse(network({})), 'nothing else changes');
  }
});

t.test('what is not openshift-install’s Network without a status stays as it is', async (t) => {
  const status = { clusterNetwork: [{ cidr: '10.0.0.0/8' }], clusterNetworkMTU: 1400 };
  for (const contents of [
    network({ status }),
    network({ spec: { ...spec, serviceNetwork: [] } }),
    network({ kind: 'Proxy' }),
    'a: b\n---\nc: d\n',
    '{',
  ]) {
    t.equal(completed(contents), contents);
  }
  const other = network({});
  t.equal(completed(other, 'another.yaml'), other);
});
