import t from 'tap';
import { hostPaths } from '../../../lib/host/paths.ts';

t.test('all paths on a host', async (t) => {
  const { at, onHost, ...paths } = hostPaths();
  t.same(paths, {
    root: '/',
    endpoints: {},
    // Paths on the ISO, and those used by openshift-install and the installed host's Ignition.
    medium: '/run/media/iso/sno-agents',
    assets: '/opt/openshift',
    assetsTls: '/opt/openshift/tls',
    assetsManifests: '/opt/openshift/manifests',
    masterIgnition: '/opt/openshift/master.ign',
    bootkubeDone: '/opt/openshift/.bootkube.done',
    installDone: '/opt/openshift/.install-to-disk.done',
    aiokubeDone: '/opt/openshift/.aiokube.done',
    serviceRecords: '/var/log/openshift',
    // Defaults of kubeadm, the kubelet, etcd and CNI.
    staticPods: '/etc/kubernetes/manifests',
    kubernetes: '/etc/kubernetes',
    pki: '/etc/kubernetes/pki',
    kubelet: '/var/lib/kubelet',
    kubeletPki: '/var/lib/kubelet/pki',
    etcdData: '/var/lib/etcd',
    cniBinaries: '/opt/cni/bin',
    // The agents' own paths, used in units and documents.
    config: '/etc/sno-agents',
    state: '/var/lib/sno-agents',
    record: '/var/lib/sno-agents/record.json',
    binaries: '/var/lib/sno-agents/bin',
    executable: '/var/lib/sno-agents/bin/sno-agents',
    payload: '/var/lib/sno-agents/payload',
    run: '/run/sno-agents',
    kubeletPrepared: '/run/sno-agents/kubelet-prepared',
    renewalDue: '/run/sno-agents/renewal-due',
    runtimeSockets: ['/run/containerd/containerd.sock', '/run/crio/crio.sock'],
  });
  t.equal(at('/etc/hosts'), '/etc/hosts');
  t.equal(onHost('/etc/hosts'), '/etc/hosts');
});

t.test('a host below a folder', async (t) => {
  for (const root of ['/srv/host', '/srv/host/']) {
    const paths = hostPaths(root, { api: 'https://127.0.0.1:1' });
    t.match(paths, { root, endpoints: { api: 'https://127.0.0.1:1' } });
    t.equal(paths.at('/etc/hosts'), '/srv/host/etc/hosts');
    t.equal(paths.etcdData, '/srv/host/var/lib/etcd');
    t.equal(paths.onHost('/srv/host/dev/sda'), '/dev/sda');
    t.equal(paths.onHost('/srv/hosts/dev/sda'), '/srv/hosts/dev/sda', 'of another folder');
  }
});
