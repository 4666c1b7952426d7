import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { placeKubeletFiles } from '../../../../agents/worker/kubelet-files.ts';
import { podNetwork } from '../../../../agents/worker/pod-network.ts';
import { readByKubelet } from '../../../../agents/worker/trust/kubelet-record.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { giveAddresses } from '../host/network.ts';
import { toldToStop } from '../upkeep/told-to-stop.ts';
import { identifiedHost, NODES, workerHost } from './worker-host.ts';

const ENVIRONMENT = '/etc/sno-agents/kubelet.env';
const CLIENTS = '/etc/kubernetes/pki/kubelet/client-ca.crt';
const CNI = '/etc/cni/net.d/10-sno.conflist';
const nodes = await createAuthority('kubelet-client-ca');
const admin = await createAuthority('admin-ca');
const successor = await createAuthority('admin-ca@1');

t.test('kubelet-files', async (t) => {
  const given = (t: Test, bundle: string) => identifiedHost(t, nodes, bundle);

  t.test('configure the kubelet of this host, without a static pod', async (t) => {
    const bundle = nodes.certificate + admin.certificate + successor.certificate;
    const { host } = await given(t, bundle);
    t.equal(await host.holds(placeKubeletFiles), false, 'before');
    await waitsForEachEffect(t, async () => {
      t.match(await host.run(placeKubeletFiles), { kind: 'done', note: 'worker-0, 192.0.2.20' });
    });
    t.equal(await readByKubelet(host.paths), sha256(servingAuthority), 'at its first start');
    t.equal(await host.holds(placeKubeletFiles), true, 'after');
    t.equal(host.read(ENVIRONMENT), 'KUBELET_NODE_IPS=192.0.2.20\n');
    t.equal(host.read('/etc/hostname'), 'worker-0\n');
    const config = parse(host.read('/etc/kubernetes/kubelet.yaml'));
    t.match(config, {
      kind: 'KubeletConfiguration',
      authentication: { anonymous: { enabled: false }, x509: { clientCAFile: CLIENTS } },
      authorization: { mode: 'Webhook' },
      clusterDNS: ['172.30.0.10'],
      rotateCertificates: true,
      serverTLSBootstrap: true,
    });
    t.equal(config.staticPodPath, undefined);
    t.match(host.read('/etc/sno-agents/pod-egress.nft'), /ip saddr 10\.128\.0\.0\/14 .*masquerade/);
    const kubeconfig = parse(host.read('/var/lib/kubelet/kubeconfig'));
    t.equal(kubeconfig.clusters[0].cluster.server, 'https://127.0.0.1:6443', 'sno-api');
    t.equal(host.mode('/var/lib/kubelet/kubeconfig'), 0o600);
    t.equal(host.mode('/var/lib/kubelet'), 0o700);
    t.equal(
      host.read(CLIENTS),
      [admin, successor].map(({ certificate }) => `${certificate.trimEnd()}\n`).join(''),
      'no node is a client of another kubelet',
    );
  });

  t.test('know the API server by what the cluster publishes, if that verifies it', async (t) => {
    const root = '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt';
    const API = '/etc/kubernetes/pki/kubelet/api-ca.crt';
    const published = async (ca: string) => {
      const it = await given(t, admin.certificate);
      it.api.set(root, { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': ca } });
      return it;
    };
    const both = servingAuthority + successor.certificate;
    const it = await published(both);
    await it.host.run(placeKubeletFiles);
    t.equal(it.host.read(API), both);
    t.equal(it.host.mode(API), 0o644);
    t.equal(await readByKubelet(it.host.paths), sha256(both), 'nothing to restart afterwards');
    const wrong = await published(successor.certificate);
    await t.rejects(wrong.host.run(placeKubeletFiles), { kind: 'unreachable', message: /issuer/ });
    t.equal(wrong.host.read(API), servingAuthority, 'what is trusted stays');
    t.notOk(wrong.host.has(ENVIRONMENT));
    const earlier = await published(both);
    earlier.api.rule(({ path }) =>
      path === root ? refusal(403, { reason: 'Forbidden', message: 'not yours' }) : undefined,
    );
    await earlier.host.run(placeKubeletFiles);
    t.equal(earlier.host.read(API), servingAuthority, 'a cluster of an earlier release');
    const busy = await published(both);
    busy.api.rule(({ path }) => (path === root ? refusal(400, { message: 'broken' }) : undefined));
    await t.rejects(busy.host.run(placeKubeletFiles), /broken/);
    t.notOk(busy.host.has(ENVIRONMENT), 'it asks again');
  });

  t.test('without the authority of clients nobody is trusted: it waits', async (t) => {
    for (const bundle of ['', nodes.certificate]) {
      const { host } = await given(t, bundle);
      t.match(await host.failureOf(placeKubeletFiles), {
        kind: 'retry',
        message: /has no authority of clients/,
      });
      t.notOk(host.has(ENVIRONMENT));
    }
    const { host, api } = await given(t, '');
    api.rule(({ path }) =>
      path.endsWith('/extension-apiserver-authentication')
        ? { code: 200, body: { metadata: { name: 'extension-apiserver-authentication' } } }
        : undefined,
    );
    t.match(await host.failureOf(placeKubeletFiles), { kind: 'retry', message: /no authority/ });
  });

  t.test('told to stop at any request, they wait for no answer', async (t) => {
    for (const name of ['kube-root-ca.crt', 'extension-apiserver-authentication']) {
      await toldToStop(t, name, async (silent, signal) => {
        const { host, api } = await given(t, admin.certificate);
        api.rule(({ path }) => (path.endsWith(name) ? silent() : undefined));
        await placeKubeletFiles.run(host.context, host.progress(signal));
      });
    }
  });

  t.test('without an address in the machine networks it waits', async (t) => {
    const { host } = await given(t, admin.certificate);
    giveAddresses(host, '198.51.100.7/24');
    t.match(await host.failureOf(placeKubeletFiles), { kind: 'retry', code: 'address-missing' });
  });
});

t.test('pod-network', async (t) => {
  t.test('has the subnets of the Node, once they are allocated', async (t) => {
    const { host, api } = await workerHost(t);
    t.equal(await host.holds(podNetwork), false, 'before');
    const running = host.run(podNetwork);
    await host.said(/worker-0: the node is not registered/);
    api.set(`${NODES}/worker-0`, { metadata: { name: 'worker-0' } });
    await host.said(/worker-0: the node has no subnets/);
    api.set(`${NODES}/worker-0`, {
      metadata: { name: 'worker-0' },
      spec: { podCIDRs: ['10.128.2.0/23', 'fd01:0:0:2::/64'] },
    });
    t.same(await running, { kind: 'done', note: '10.128.2.0/23, fd01:0:0:2::/64' });
    t.equal(await host.holds(podNetwork), true, 'after');
    const [bridge] = JSON.parse(host.read(CNI)).plugins;
    t.same(bridge.ipam.ranges, [[{ subnet: '10.128.2.0/23' }], [{ subnet: 'fd01:0:0:2::/64' }]]);
  });
});
