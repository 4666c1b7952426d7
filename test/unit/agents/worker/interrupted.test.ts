/** The steps of a worker, interrupted at any moment. */
import t from 'tap';
import { finishWorker } from '../../../../agents/worker/finish.ts';
import { placeKubeletFiles } from '../../../../agents/worker/kubelet-files.ts';
import { workerKubeletIdentity } from '../../../../agents/worker/kubelet-identity.ts';
import { workerLeftovers } from '../../../../agents/worker/leftovers.ts';
import { podNetwork } from '../../../../agents/worker/pod-network.ts';
import { workerServingCertificate } from '../../../../agents/worker/serving-certificate.ts';
import { readByKubelet } from '../../../../agents/worker/trust/kubelet-record.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { readLedger } from '../../../../lib/cluster/installation/ledger.ts';
import { readMarker } from '../../../../lib/cluster/installation/marker.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { approvingHost } from './approving-host.ts';
import { CURRENT, identifiedHost, NODES, workerHost } from './worker-host.ts';

const nodes = await createAuthority('kubelet-client-ca');
const admin = await createAuthority('admin-ca');
const KEY = '/var/lib/sno-agents/worker/kubelet.key';
/** What tells that the files of the kubelet are complete. */
const COMPLETE = '/etc/sno-agents/kubelet.env';
const SERVING = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const CNI = '/etc/cni/net.d/10-sno.conflist';
const FILES = [
  '/etc/kubernetes/kubelet.yaml',
  '/etc/kubernetes/pki/kubelet/client-ca.crt',
  '/etc/kubernetes/pki/kubelet/api-ca.crt',
  '/var/lib/kubelet/kubeconfig',
  '/etc/sno-agents/pod-egress.nft',
  '/etc/hostname',
];

t.test('kubelet-files: what tells that they are complete comes last', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => identifiedHost(t, nodes, admin.certificate),
    run: ({ host }) => host.run(placeKubeletFiles),
    async allowed({ host }, when) {
      if (!host.has(COMPLETE)) return;
      for (const path of FILES) t.ok(host.has(path), `${when}: ${path}`);
      t.ok(await readByKubelet(host.paths), `${when}: what the kubelet reads is recorded`);
    },
    result: async ({ host }) => ({
      files: [...FILES, COMPLETE].map((path) => [path, host.read(path).length, host.mode(path)]),
      read: await readByKubelet(host.paths),
      folder: host.mode('/var/lib/kubelet'),
    }),
    least: 30,
    isDurable: true,
  });
});

t.test('serving-certificate: it is on the disk before the worker is ready', async (t) => {
  const authority = await createAuthority('kubelet-serving-ca');
  const { certificate, key } = await issueLeaf(authority, {
    subject: { commonName: 'worker-0' },
    usage: 'server',
    dnsNames: ['worker-0'],
  });
  await killedAtAnyMoment(t, {
    prepare: async () => {
      const it = await workerHost(t);
      it.host.write(SERVING, `${certificate}${key}`, 0o600);
      return it;
    },
    run: ({ host }) => host.run(workerServingCertificate),
    result: ({ host }) => host.holds(workerServingCertificate),
    least: 1,
  });
});

t.test('pod-network: the bridge has its subnets, or is not configured', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: async () => {
      const it = await workerHost(t);
      const spec = { podCIDRs: ['10.128.2.0/23'] };
      it.api.set(`${NODES}/worker-0`, { metadata: { name: 'worker-0' }, spec });
      return it;
    },
    run: ({ host }) => host.run(podNetwork),
    async allowed({ host }, when) {
      if (await host.holds(podNetwork)) t.match(host.read(CNI), '10.128.2.0/23', when);
    },
    result: ({ host }) => host.read(CNI),
    least: 5,
    isDurable: true,
  });
});

t.test('leftovers and finish: each is written whole', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: async () => {
      const it = await workerHost(t);
      it.host.write('/etc/machine-id', 'one\n');
      return it;
    },
    async run({ host }) {
      await host.run(workerLeftovers);
      await host.run(finishWorker);
    },
    async allowed({ host }, when) {
      if (await host.holds(finishWorker)) t.ok(await host.holds(workerLeftovers), when);
    },
    result: async ({ host }) => ({
      leftovers: (await readLedger(host.paths))?.entries.map(({ path }) => path),
      marker: (await readMarker(host.paths.at('/var')))?.state,
    }),
    least: 10,
    isDurable: true,
  });
});

t.test('kubelet-identity: the key that people have compared is not lost', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => approvingHost(t, nodes),
    run: ({ host }) => host.run(workerKubeletIdentity),
    allowed({ host, requested }, when) {
      const kept = [KEY, CURRENT].filter((path) => host.has(path));
      const fingerprints = kept.map((path) => publicKeyFingerprint(host.read(path)));
      for (const each of requested) t.ok(fingerprints.includes(each), `${when}: ${each}`);
    },
    // Without its step's state, it would ask for another certificate.
    again: async ({ host }) =>
      void ((await host.holds(workerKubeletIdentity)) || (await host.run(workerKubeletIdentity))),
    result: async ({ host, requested }) => ({
      holds: await host.holds(workerKubeletIdentity),
      keys: new Set(requested).size,
      isOwn: requested[0] === publicKeyFingerprint(host.read(CURRENT)),
    }),
    least: 10,
    isDurable: true,
  });
});
