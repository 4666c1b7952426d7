import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestHost } from '../host/host.ts';

/** Of a MachineConfig, and outside of /etc. */
export const OF_DAEMON = '/var/lib/kubelet/credential-provider.yaml';

/** A manifest of the site before. */
const WAITING = '/etc/sno-agents/deferred/5000.Fast-one.json';

/** What operators and the daemon have on the disk of a node. */
export function installed(host: TestHost): void {
  const units = [
    { name: 'kubelet.service', dropins: [{ name: '20-logging.conf' }] },
    { name: 'masked.service', mask: true },
  ];
  const paths = ['/etc/mco/proxy.env', '/usr/local/bin/configure-ovs.sh', OF_DAEMON];
  const files = paths.map((path) => ({ path }));
  const config = { storage: { files }, systemd: { units } };
  const current = JSON.stringify({ metadata: { name: 'rendered-1' }, spec: { config } });
  host.write('/etc/machine-config-daemon/currentconfig', current);
  host.write('/etc/machine-config-daemon/orig/etc/chrony.conf.mcdorig', 'of the system');
  host.write('/etc/systemd/system/kubelet.service', '[Service]');
  host.write('/etc/systemd/system/kubelet.service.d/20-logging.conf', '[Service]');
  symlinkSync('/dev/null', host.at('/etc/systemd/system/masked.service'));
  host.write('/etc/mco/proxy.env', '# none');
  host.write('/etc/containers/registries.conf', 'unqualified-search-registries = []');
  host.write('/etc/kubernetes/kubelet.conf', 'kind: KubeletConfiguration');
  host.write(WAITING, 'waits since the site before', 0o600);
  host.write('/etc/kubernetes/manifests/etcd-pod.yaml', 'revision 3', 0o600);
  host.write('/etc/kubernetes/manifests.of-others', 'beside the folder');
  for (const revision of [2, 3]) {
    const pod = `/etc/kubernetes/static-pod-resources/etcd-pod-${revision}`;
    host.write(`${pod}/etcd-pod.yaml`, `revision ${revision}`, 0o600);
    host.write(`${pod}/secrets/etcd-all-certs/key`, 'a key', 0o600);
  }
  host.write('/var/home/core/.ssh/authorized_keys.d/ignition', 'of the factory', 0o600);
  host.write('/var/lib/kubelet/config.json', '{"auths":{}}', 0o600);
  host.write('/var/lib/ovnk/iface_default_hint', 'eno1\n');
  host.write(OF_DAEMON, 'of the factory');
}

/** What a site, its operators and the daemon make of it. */
export function changedBySite(host: TestHost): void {
  host.remove('/etc/kubernetes/static-pod-resources/etcd-pod-2');
  host.write('/etc/kubernetes/static-pod-resources/etcd-pod-4/etcd-pod.yaml', 'revision 4');
  host.write('/etc/kubernetes/manifests/etcd-pod.yaml', 'revision 4', 0o600);
  host.write('/etc/kubernetes/manifests/new-pod.yaml', 'new');
  host.write('/etc/kubernetes/manifests.of-others', 'of the site');
  host.write('/etc/machine-config-daemon/currentconfig', '{"metadata":{"name":"rendered-2"}}');
  host.write('/etc/machine-config-daemon/noorig/etc/chrony.conf.mcdnoorig');
  host.write('/etc/chrony.conf', 'server 198.51.100.123');
  if (host.has(WAITING)) host.remove(WAITING);
  host.write('/etc/mco/proxy.env', 'HTTP_PROXY=http://site');
  host.write('/etc/containers/registries.conf', '[[registry]]');
  host.write('/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt', 'a CA');
  host.write('/etc/containers/policy.json', '{"default":[{"type":"reject"}]}');
  host.write('/etc/containers/registries.d/sigstore-registries.yaml', 'docker: {}');
  for (const name of ['10-default-env-proxy.conf', '10-default-env.conf'])
    host.write(`/etc/systemd/system.conf.d/${name}`, '[Manager]');
  host.write('/etc/systemd/system/kubelet.service.d/20-logging.conf', '[Service]\n#');
  host.write('/etc/dnsmasq.d/sno-site.conf', 'address=/x/');
  host.write('/etc/hostname', 'till-7');
  host.write('/var/home/core/.ssh/authorized_keys.d/ignition', 'of the site', 0o600);
  host.write('/var/lib/kubelet/config.json', '{"auths":{"site":{}}}', 0o600);
  host.write('/var/lib/kubelet/kubeconfig', 'new');
  host.write('/var/lib/kubelet/pki/kubelet-client-2.pem', 'another');
  host.write('/var/lib/ovnk/iface_default_hint', 'eno2\n');
  if (host.has(OF_DAEMON)) host.write(OF_DAEMON, 'of the site');
  host.write('/var/lib/etcd/member/snap/db', 'the database of the site', 0o600);
  host.write('/etc/NetworkManager/system-connections/eno1.nmconnection', 'of the site', 0o600);
  if (host.has('/etc/sno-agents/sealed')) host.remove('/etc/sno-agents/sealed');
}

/** Every file of the host that is not the agents' own state, with its mode and contents. */
export function onDisk(host: TestHost): string[] {
  return ['/etc', '/var/home', '/var/lib/etcd', '/var/lib/kubelet', '/var/lib/ovnk']
    .filter((folder) => host.has(folder))
    .flatMap((folder) =>
      readdirSync(host.at(folder), { recursive: true, withFileTypes: true }).flatMap((entry) => {
        const path = join(entry.parentPath, entry.name);
        const mode = (lstatSync(path).mode & 0o777).toString(8);
        if (!entry.isFile() || path.includes('sno-trial.timer.d')) return [];
        const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
        return [`${path.slice(host.root.length)} ${mode} ${digest}`];
      }),
    )
    .toSorted();
}

/** What systemd was asked to do. */
export const ofUnits = (host: TestHost) =>
  host.programs
    .calls('systemctl')
    .filter((call) => !call.startsWith('systemctl show') && !call.includes('sno-trial'))
    .map((call) => call.replace('systemctl ', ''));
