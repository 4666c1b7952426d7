import { isDeepStrictEqual } from 'node:util';
import { identityOf } from '../../../lib/change/identity/identity.ts';
import { isApiReady } from '../../../lib/clients/kube/api-ready.ts';
import { writeCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run as runProgram } from '../../../lib/host/command.ts';
import {
  type NewFile,
  readTextIfPresent,
  writeFileAtomic,
  writeFilesAtomic,
} from '../../../lib/host/files.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
  readKubeletEnvironment,
} from '../../../lib/host/kubelet-environment.ts';
import { stopUnit } from '../../../lib/host/systemd.ts';
import { certificatesIn, validityOf } from '../../../lib/pki/certificate.ts';
import { apiServerPod } from '../../../lib/render/kubernetes/kube-apiserver.ts';
import { issuedLeaves, servingLeafFiles } from '../../../lib/render/kubernetes/leaves.ts';
import { proxyFiles } from '../../../lib/render/machine-config/proxy.ts';
import { readRenderInput, saveRenderInput } from '../../../lib/render/render-input.ts';
import type { KeylessInput } from '../../../lib/render/renderer.ts';
import { awaitApi } from '../../steps/await-api.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import { restartKubeletUnit } from '../../steps/kubelet.ts';
import { currentIdentity, placeIdentity } from '../../steps/kubelet-client-file.ts';
import { isOfNode, issueIdentity } from '../../steps/kubelet-identity.ts';
import { readAuthority } from '../../steps/leaf-files.ts';
import { withPresentFiles } from '../../steps/read-once.ts';
import { restartRuntime } from '../../steps/restart-runtime.ts';
import { placeStaticPod } from '../../steps/static-pods.ts';
import { type IdentityContext, inputOf } from './context.ts';
import { heldManifests } from './hold.ts';

const HOSTNAME_MS = 30_000;

/**
 * Gives the host its new name, writes every file that depends on the identity, and starts etcd and the
 * API server with them, by a kubelet without an API server. Each attempt writes all of them; what the
 * control plane was rendered from is written last.
 */
export const identityFiles: StepBody<IdentityContext> = {
  name: 'files',
  leaves:
    'the name of the host, certificates and configuration of the new identity; an API server that is ready with them',
  touches: ['disk', 'etcd', 'api', 'systemd', 'clock'],
  retries: true,
  neededUntil: 'start',
  input: ({ request }) => request.id,
  async holds(context, progress) {
    const input = await readRenderInput(context.paths);
    return (
      input !== undefined &&
      isDeepStrictEqual(identityOf(input), context.request.to) &&
      (await context.withAdministrator(progress, (client) => isApiReady(client, progress.signal)))
    );
  },
  async run(context, progress) {
    const { paths, request } = context;
    const input = await inputOf(context, request.to);
    await writeFilesAtomic(await servingFiles(context, input));
    const present = await currentIdentity(paths);
    if (present === undefined || !isOfNode(present, context)) {
      await placeIdentity(paths, await issueIdentity(context));
    }
    const { hostname, nodeIps } = request.to;
    const pinned = (await readKubeletEnvironment(paths))?.nodeName;
    const nodeName = pinned === undefined ? {} : { nodeName: hostname };
    const environment = kubeletEnvironmentText({ nodeIps, ...nodeName });
    await writeFileAtomic(kubeletEnvironmentPath(paths), environment, 0o644);
    await writeCluster(paths, input.cluster);
    // Static and transient name; it writes /etc/hostname durably.
    const limits = { signal: progress.signal, deadlineMs: HOSTNAME_MS };
    await runProgram('hostnamectl', ['set-hostname', hostname], limits);
    // It would otherwise start them under the old name.
    await stopUnit('kubelet.service', progress.signal);
    await placeProxy(context, input, progress.signal);
    await placeDatabaseAndApi(context, input);
    await restartKubeletUnit(progress.signal);
    await awaitApi(context, progress);
    await saveRenderInput(paths, input);
    return done([hostname, ...nodeIps].join(', '));
  },
};

/** The cluster's own names and networks are reached without the proxy, and they have changed. */
async function placeProxy(
  { paths }: IdentityContext,
  { cluster }: KeylessInput,
  signal: AbortSignal,
): Promise<void> {
  const files = proxyFiles(cluster);
  if (files.length === 0) return;
  for (const { path, contents, mode } of files) {
    await writeFileAtomic(paths.at(path), contents, mode);
  }
  await restartRuntime(paths, signal);
}

/** With the certificates that are served behind it, after a rotation of the authority. */
async function servingFiles({ paths }: IdentityContext, input: KeylessInput): Promise<NewFile[]> {
  const { certificate } = issuedLeaves.apiServerServing;
  const old = (await readTextIfPresent(paths.at(certificate))) ?? '';
  const now = new Date();
  const others = certificatesIn(old)
    .slice(1)
    .filter((pem) => validityOf(pem).notAfter > now);
  const rendered = await servingLeafFiles(input, await readAuthority(paths, 'serving'));
  return rendered.map(({ path, contents, mode }) => ({
    path: paths.at(path),
    contents: path === certificate ? [contents, ...others].join('') : contents,
    mode,
  }));
}

/** Under the names that their files have on this host. */
async function placeDatabaseAndApi({ paths }: IdentityContext, input: KeylessInput): Promise<void> {
  for (const { component, file, manifest } of await podsIn(heldManifests(paths))) {
    if (component === 'etcd') {
      const etcd = await withPresentFiles(paths, { component, manifest });
      await placeStaticPod(paths, { file, manifest: etcd });
    }
    if (component === 'kube-apiserver') {
      const pod = apiServerPod(input);
      await placeStaticPod(paths, { file, manifest: await withPresentFiles(paths, pod) });
    }
  }
}
