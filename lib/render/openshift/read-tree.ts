import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readGoYaml } from '../../base/go-yaml/read.ts';
import { ifMissing, readTextIfPresent } from '../../host/files.ts';
import type { FileUse } from '../hosts.ts';
import { closedDirectories } from '../kubernetes/files.ts';
import type {
  HeldLease,
  Rendered,
  RenderedDirectory,
  RenderedFile,
  RenderedManifest,
} from '../renderer.ts';
import { keyClasses } from './key-classes.ts';
import { withNetworkStatus } from './network-status.ts';
import { paths } from './paths.ts';
import { withoutRepeats } from './repeats.ts';
import { staticPodsOf } from './static-pods.ts';
import { filesBelow, type Tree } from './tree.ts';

/** Read by the bootstrap's static pods, before and after the pivot. */
const bothHosts: readonly FileUse[] = ['control-plane'];
/** Read by pods that run only before the pivot. */
const liveHostOnly: readonly FileUse[] = ['standalone-kubelet'];

const leftover = 'the static pods of the bootstrap read it until the operators replace them';

/** The tree of all stages as the agents need it. Changes nothing. */
export async function readTree({ assets, host }: Tree): Promise<Rendered> {
  const manifests = await manifestsIn(join(assets, 'manifests'));
  const joinKubeconfig = (await readTextIfPresent(join(assets, 'auth/kubeconfig-kubelet'))) ?? '';
  const classes = keyClasses(manifests, joinKubeconfig);
  const files = [
    ...(await secrets(assets)),
    ...(await filesIn(host)).filter(({ path }) => !path.startsWith(`${paths.staticPods}/`)),
  ].map((file) => ({ ...file, keyClass: classes.classOf(file.contents) }));
  const pods = new Map([
    ...(await textsIn(join(host, paths.staticPods))),
    ...(await textsIn(join(assets, 'bootstrap-manifests'))),
  ]);
  return {
    directories: [...fixedDirectories, ...directoriesOf(files)],
    files,
    staticPods: staticPodsOf(pods),
    leases: [...fixedLeases, schedulerLease(files)],
    manifests: withNetworkStatus(withoutRepeats(manifests)),
    userManifests: 'included',
  };
}

/** The installer's keys and what the stages added, as the API server and its clients mount them. */
async function secrets(assets: string): Promise<RenderedFile[]> {
  const tls = await textsIn(join(assets, 'tls'));
  const kubeconfig = await readFile(join(assets, 'auth/kubeconfig-loopback'), 'utf8');
  return [...tls, ['kubeconfig', kubeconfig] as const].map(([name, contents]) => ({
    path: `${paths.secrets}/${name}`,
    mode: 0o600,
    contents,
    uses: bothHosts,
    leftover,
  }));
}

async function filesIn(host: string): Promise<RenderedFile[]> {
  return [...(await textsIn(host))].map(([name, contents]) => {
    const path = `/${name}`;
    const isKept = [paths.configs, paths.etcdMember].some((folder) =>
      path.startsWith(`${folder}/`),
    );
    return {
      path,
      mode: 0o600,
      contents,
      ...(isKept ? { uses: bothHosts, leftover } : { uses: liveHostOnly }),
    };
  });
}

/** All files below a folder by their path in it, sorted; none if it does not exist. */
async function textsIn(folder: string): Promise<Map<string, string>> {
  const names = (await filesBelow(folder).catch(ifMissing)) ?? [];
  const texts = names.map(
    async (name) => [name, await readFile(join(folder, name), 'utf8')] as const,
  );
  return new Map(await Promise.all(texts));
}

async function manifestsIn(folder: string): Promise<RenderedManifest[]> {
  return [...(await textsIn(folder))].map(([name, contents]) => ({ name, contents }));
}

function directoriesOf(files: readonly RenderedFile[]): RenderedDirectory[] {
  const closed = [
    ...[paths.configs, paths.secrets, `${paths.kubernetes}/static-pod-resources`],
    ...['/etc/mcc', '/etc/mcs', '/etc/ssl/mcs'],
  ];
  return closedDirectories(files, closed);
}

/** Folders that the static pods mount and that have no rendered file. */
const fixedDirectories: readonly RenderedDirectory[] = [
  { path: paths.kubernetes, mode: 0o755, uses: ['standalone-kubelet', 'node'] },
  { path: paths.staticPods, mode: 0o700, uses: ['standalone-kubelet', 'node'] },
  { path: paths.cloud, mode: 0o755, uses: bothHosts },
  { path: paths.logs, mode: 0o700, uses: bothHosts },
  { path: paths.auditLogs, mode: 0o700, uses: bothHosts },
  // The machine-config controller writes there what the server serves.
  { path: '/etc/mcs', mode: 0o700, uses: liveHostOnly },
  { path: '/etc/mcs/bootstrap', mode: 0o700, uses: liveHostOnly },
  // Restoring a snapshot creates the folder.
  { path: paths.etcdData, mode: 0o700, uses: ['new-database'] },
];

/** Those of the version operator and the policy controller cost the installed host minutes. */
const fixedLeases: readonly HeldLease[] = [
  { namespace: 'openshift-cluster-version', name: 'version' },
  { namespace: 'kube-system', name: 'cluster-policy-controller-lock' },
  { namespace: 'kube-system', name: 'kube-controller-manager' },
];

const schedulerSchema = z.object({
  leaderElection: z
    .object({ resourceNamespace: z.string().optional(), resourceName: z.string().optional() })
    .optional(),
});

/** Named in its configuration; the defaults are kube-scheduler's. */
function schedulerLease(files: readonly RenderedFile[]): HeldLease {
  const config = files.find(({ path }) => path === `${paths.configs}/kube-scheduler-config.yaml`);
  const parsed = schedulerSchema.safeParse(readGoYaml(config?.contents ?? ''));
  const { resourceNamespace, resourceName } = parsed.data?.leaderElection ?? {};
  return {
    namespace: resourceNamespace ?? 'kube-system',
    name: resourceName ?? 'kube-scheduler',
  };
}
