import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { dueLeaves, leavesOnDisk, readAuthority } from '../../agents/steps/leaf-files.ts';
import { age } from '../../lab/certificates/age.ts';
import { createLaptopAuthorities, issueLeaf } from '../../lab/certificates/signed-now.ts';
import { ETCD_VERSION } from '../../lab/components/etcd.ts';
import { KUBERNETES_VERSION } from '../../lab/components/kubernetes.ts';
import { startKubeletEndpoint } from '../../lab/servers/kubelet-endpoint.ts';
import { startRenderedControlPlane } from '../../lab/servers/rendered-control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failureTable } from '../../lib/clients/kube/apply-table.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { type Cluster, clusterSchema } from '../../lib/config/cluster/cluster.ts';
import { hostAddresses } from '../../lib/host/network.ts';
import { type HostPaths, hostPaths } from '../../lib/host/paths.ts';
import { authorityPaths, laptopAdminCa } from '../../lib/render/kubernetes/authorities.ts';
import { kubernetesRenderer } from '../../lib/render/kubernetes/index.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { renewableLeaves } from '../../lib/render/kubernetes/leaves.ts';
import type { OtherHost } from './agent-elsewhere.ts';

const APPLY_MS = 60_000;
/** Age of a certificate of a year that is due. */
const DUE_DAYS = 300;

/** A host in a folder, whose rendered control plane runs. */
export interface RenewalHost {
  readonly host: OtherHost;
  /** A folder with the programs of an operating system that it has in place of this machine's. */
  readonly programs: string;
  /** Makes every leaf that sno-renew renews due for renewal; returns how many there are. */
  ageLeaves(): Promise<number>;
  countDue(): Promise<number>;
  stop(): Promise<void>;
}

export async function startRenewalHost(root: string, signal: AbortSignal): Promise<RenewalHost> {
  const rendered = await rendering();
  const plane = await startRenderedControlPlane(rendered, root, signal);
  try {
    // The rights of the agents, as the installation leaves them.
    const manifests = rendered.manifests.flatMap(
      ({ name, contents }) => decodeManifests(name, contents).manifests,
    );
    const options = { signal, deadlineMs: APPLY_MS, concurrency: 4, report: () => undefined };
    const refused = failureTable(
      await applyManifests(plane.admin, { manifests, faults: [] }, options),
    );
    if (refused.length > 0) throw new Error(refused.join('\n'));
    const paths = hostPaths(root);
    await writeFile(`${paths.config}/cluster.json`, JSON.stringify(cluster));
    // As on every day after auth/kubeconfig was exchanged.
    await rm(paths.at(laptopAdminCa));
    const kubelet = await startKubelet(paths, signal);
    const at = (port: number) => `https://127.0.0.1:${plane.port(port)}`;
    const endpoints = { api: at(6443), etcd: at(2379), etcdPeer: at(2380), kubelet: kubelet.url };
    return {
      host: { root, endpoints },
      programs: await givePrograms(join(root, 'bin')),
      ageLeaves: async () => {
        const leaves = await leavesOnDisk(paths, renewableLeaves);
        for (const { leaf } of leaves) await age(root, leaf, DUE_DAYS);
        return leaves.length;
      },
      countDue: async () => (await dueLeaves(paths, renewableLeaves, new Date())).length,
      stop: async () => {
        kubelet[Symbol.dispose]();
        await plane.stop();
      },
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

const cluster: Cluster = clusterSchema.parse({
  apiVersion: 'sno-agents/v1',
  clusterId: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab',
  controlPlane: 'kubernetes',
  name: 'edge',
  baseDomain: 'example.test',
  machineNetwork: ['192.0.2.0/24'],
  clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
  serviceNetwork: ['172.30.0.0/16'],
  executableSha256: 'a'.repeat(64),
});

async function rendering() {
  const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  return kubernetesRenderer.render({
    cluster,
    host: {
      hostname: hostname(),
      nodeIps: ['192.0.2.10'],
      cgroupDriver: 'systemd',
      cgroupVersion: 2,
      containerRuntime: 'containerd',
      rootIsOverlay: false,
      resolvConf: '/etc/resolv.conf',
      images: Object.fromEntries(components.map((name) => [name, `example.test/${name}:1`])),
      versions: { kubernetes: KUBERNETES_VERSION, etcd: ETCD_VERSION },
    },
    authorities: await createLaptopAuthorities(),
    deferredGroups: [],
  });
}

/** systemd does not manage this host's kubelet: it has been running since 1970. */
async function givePrograms(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'systemctl'), '#!/bin/sh\necho @1\n', { mode: 0o755 });
  return folder;
}

/** With a new serving certificate for its name and addresses: the kubelet requests no other one. */
async function startKubelet(paths: HostPaths, signal: AbortSignal) {
  const name = hostname();
  const ipAddresses = (await hostAddresses(signal)).map(({ address }) => address);
  await writeFile(`${paths.config}/kubelet.env`, `KUBELET_NODE_IPS=${ipAddresses.join(',')}\n`);
  const serving = await issueLeaf(await readAuthority(paths, 'kubelet-serving'), {
    subject: { commonName: `system:node:${name}`, organizations: ['system:nodes'] },
    usage: 'server',
    dnsNames: [name],
    ipAddresses,
  });
  const file = paths.at(kubeletPaths.servingPair);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${serving.certificate}${serving.key}`, { mode: 0o600 });
  const clientCa = await readFile(paths.at(authorityPaths('admin').certificate), 'utf8');
  return startKubeletEndpoint(serving, clientCa);
}
