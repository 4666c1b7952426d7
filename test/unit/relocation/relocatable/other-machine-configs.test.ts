/** Which MachineConfigs of others a relocatable node cannot go on with. */
import t from 'tap';
import { ASSISTED_DNS } from '../../../../lib/relocation/relocatable/openshift/assisted-dns.ts';
import {
  machineConfigSchema,
  otherMachineConfigFaults,
} from '../../../../lib/relocation/relocatable/openshift/other-machine-configs.ts';

interface Written {
  readonly files?: readonly string[];
  readonly units?: readonly string[];
}

/** Those of the files and units that are refused. */
function refusedOf(name: string, { files = [], units = [] }: Written): string[] {
  const storage = { files: files.map((path) => ({ path })) };
  const systemd = { units: units.map((each) => ({ name: each })) };
  const spec = { config: { storage, systemd } };
  const faults = otherMachineConfigFaults([
    machineConfigSchema.parse({ metadata: { name }, spec }),
  ]);
  return faults.map(({ text }) => {
    const [, of, each] = /^MachineConfig (\S+) has (\S+):/.exec(text) ?? [];
    t.equal(of, name);
    return each ?? text;
  });
}

/** What decides how the node resolves names, and which address it has on which bridge. */
const JUDGED: Required<Written> = {
  files: [
    '/etc/dnsmasq.conf',
    '/etc/dnsmasq.d/own.conf',
    '/etc/NetworkManager/conf.d/99-own.conf',
    '/etc/NetworkManager/dispatcher.d/pre-up.d/99-own',
    '/etc/nmstate/openshift/cluster.yml',
    '/etc/ovnk/extra_bridge',
    '/etc/resolv.conf',
    // Ours has them as well.
    '/etc/NetworkManager/system-connections/br-node.nmconnection',
    '/etc/systemd/system/kubelet.service.d/30-sno-node.conf',
  ],
  units: ['dnsmasq.service', 'nodeip-configuration.service', 'ovs-configuration.service'],
};
const OTHERS: Required<Written> = {
  files: ['/etc/chrony.conf', '/etc/dnsmasq.conf.d/own', '/usr/etc/ovnk/x', '/etc/resolv.conf.own'],
  units: ['kubelet.service', 'own.service'],
};

t.test('what ours does otherwise, whoever does it', async (t) => {
  for (const name of ['99-own', '98-master-own', '01-worker-kubelet', '00-masters']) {
    t.same(refusedOf(name, JUDGED), [...JUDGED.files, ...JUDGED.units], name);
  }
  t.same(refusedOf('99-own', OTHERS), []);
});

t.test('what the operator itself writes was read', async (t) => {
  for (const name of ['00-master', '01-master-kubelet', 'rendered-master-0a1b']) {
    t.same(refusedOf(name, JUDGED), [], name);
  }
});

t.test('that of assisted-service is known, and nothing more of it', async (t) => {
  const known = {
    files: [
      '/usr/local/bin/dnsmasq_config.sh',
      '/etc/NetworkManager/dispatcher.d/forcedns',
      '/etc/NetworkManager/conf.d/single-node.conf',
    ],
    units: ['dnsmasq.service'],
  };
  t.same(refusedOf(ASSISTED_DNS, known), []);
  t.same(refusedOf('99-own', known), [...known.files.slice(1), 'dnsmasq.service']);
  t.same(refusedOf(ASSISTED_DNS, JUDGED), [
    ...JUDGED.files,
    ...['nodeip-configuration.service', 'ovs-configuration.service'],
  ]);
});

t.test('a MachineConfig that writes nothing', async (t) => {
  const none = [{}, { config: null }, { config: {} }, { config: { storage: null, systemd: null } }];
  for (const spec of none) {
    const config = machineConfigSchema.parse({ metadata: { name: '99-own' }, spec });
    t.same(otherMachineConfigFaults([config]), []);
  }
});
