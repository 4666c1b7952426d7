import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { NodeIps } from '../../lib/base/network/node-ips.ts';
import { deferredGroups, readDeferred } from '../../lib/cluster/deferred/manifests.ts';
import { readFutureToken } from '../../lib/cluster/workers/future-token.ts';
import { openShiftRelease } from '../../lib/config/cluster/cluster.ts';
import { fingerprint } from '../../lib/engine/steps/fingerprint.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { runNamedUnit } from '../../lib/host/named-unit.ts';
import { hostAddresses, nodeIpsOf } from '../../lib/host/network.ts';
import { kubeletIsOnOverlay } from '../../lib/host/root.ts';
import { withWorkFolder } from '../../lib/host/work-folder.ts';
import { missingAddOns } from '../../lib/payload/add-ons.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { accessTo } from '../../lib/render/access.ts';
import { type HostNeeds, neededBy } from '../../lib/render/hosts.ts';
import { openShiftRenderer } from '../../lib/render/openshift/index.ts';
import { hostPodman } from '../../lib/render/openshift/podman.ts';
import { saveRenderInput } from '../../lib/render/render-input.ts';
import type {
  HostFacts,
  LaptopAuthorities,
  RenderEffects,
  Rendered,
  RenderedFile,
} from '../../lib/render/renderer.ts';
import {
  filesArePlaced,
  loadRenderedFor,
  placeFiles,
  type RenderedIdentity,
  saveRendered,
} from '../../lib/render/store.ts';
import { openShiftInstalledFiles } from '../../units/openshift.ts';
import type { HostContext } from './host-context.ts';
import { kubeletFacts } from './kubelet-facts.ts';
import { payloadFolder } from './payload-folder.ts';

/**
 * Renders the control plane: keys, certificates, static pods, configuration and manifests. Keys
 * are generated once; a second run writes the same files again. `needs` selects the files that
 * the host must have, `next` those of the host that it hands over to. Keys that neither needs are
 * never written.
 */
export const render = (needs: HostNeeds, next: HostNeeds = []): StepBody<HostContext> => ({
  name: 'render',
  leaves: '/opt/openshift/rendered.json (0600) and the files of this host in their final places',
  touches: ['disk', 'runtime', 'network', 'clock'],
  retries: true,
  input: ({ cluster }) => cluster,
  async holds(context) {
    const rendered = await loadRenderedFor(context.paths, renderKey(context));
    return rendered !== undefined && (await filesArePlaced(context.paths, needs, rendered.files));
  },
  async run(context, progress) {
    const { paths } = context;
    const key = renderKey(context);
    let rendered = await loadRenderedFor(paths, key);
    if (rendered === undefined) {
      const fresh = await renderOf(context.cluster.controlPlane)(context, progress);
      rendered = neededOnly(fresh.rendered, [...needs, ...next]);
      await saveRendered(paths, key, fresh.identity, rendered);
    }
    await placeFiles(paths, needs, rendered);
    return done(`${rendered.files.length} files, ${rendered.manifests.length} manifests`);
  },
});

/** A control plane that was just rendered, and for which host. */
interface Fresh {
  readonly identity: RenderedIdentity;
  readonly rendered: Rendered;
}

type Render = (context: HostContext, progress: Progress) => Promise<Fresh>;

const renderOf = (kind: HostContext['cluster']['controlPlane']): Render =>
  kind === 'openshift' ? renderRelease : renderPayload;

/** Runs the render programs of the release, whose images the step payload has pulled. */
const renderRelease: Render = async (context, progress) => {
  const { paths, cluster } = context;
  const nodeIps = await registeredAddresses(cluster, progress.signal);
  const host = { rootIsOverlay: await kubeletIsOnOverlay(paths) };
  const input = { release: openShiftRelease(cluster), paths, host };
  const rendered = await inWorkFolder(context, progress, (effects) =>
    openShiftRenderer(hostPodman(runNamedUnit)).render(input, effects),
  );
  const files = [...rendered.files, ...installedFiles(cluster)];
  return { identity: { hostname: context.hostname(), nodeIps }, rendered: { ...rendered, files } };
};

/** The agents' own on the installed host, where the rest comes from the machine config. */
function installedFiles({ executableSha256 }: HostContext['cluster']): RenderedFile[] {
  const executable = '/var/lib/sno-agents/bin/sno-agents';
  const digest = {
    path: '/etc/sno-agents/executable.sha256',
    contents: `${executableSha256}  ${executable}\n`,
  };
  return [digest, ...openShiftInstalledFiles].map((file) => ({
    ...file,
    mode: 0o644,
    uses: ['node'],
    leftover: 'only the agents of the installation need it',
  }));
}

const renderPayload: Render = async (context, progress) => {
  const { paths, cluster } = context;
  const host = await readFacts(context, progress.signal);
  for (const line of missingAddOns(Object.keys(host.images))) progress.say(line);
  const facts = { host, deferredGroups: deferredGroups(await readDeferred(paths)) };
  const authorities = await readAuthorities(context);
  const workerToken = await readFutureToken(paths, new Date());
  const input = { cluster, ...facts, authorities, ...(workerToken && { workerToken }) };
  const rendered = await inWorkFolder(context, progress, (effects) =>
    accessTo(cluster.controlPlane).renderer.render(input, effects),
  );
  await saveRenderInput(paths, { cluster, ...facts });
  return { identity: host, rendered };
};

function inWorkFolder(
  { paths }: HostContext,
  progress: Progress,
  use: (effects: RenderEffects) => Promise<Rendered>,
): Promise<Rendered> {
  return withWorkFolder(join(paths.assets, 'render'), (work) =>
    use({ signal: progress.signal, report: (line) => progress.waitingFor(line), work }),
  );
}

function neededOnly(rendered: Rendered, needs: HostNeeds): Rendered {
  return { ...rendered, files: neededBy(needs, rendered.files) };
}

const renderKey = ({ cluster }: HostContext) => fingerprint(cluster);

async function readFacts(context: HostContext, signal: AbortSignal): Promise<HostFacts> {
  const { cluster } = context;
  const nodeIps = await registeredAddresses(cluster, signal);
  const payload = await readPayload(payloadFolder(context));
  return {
    ...(await kubeletFacts(context.paths, payload, signal)),
    hostname: context.hostname(),
    nodeIps,
    images: Object.fromEntries(payload.images.map(({ name, reference }) => [name, reference])),
  };
}

/** @throws Failure (retry) if the host lacks an address of a family that the cluster has */
async function registeredAddresses(
  { machineNetwork }: HostContext['cluster'],
  signal: AbortSignal,
): Promise<NodeIps> {
  const addresses = await hostAddresses(signal);
  const nodeIps = nodeIpsOf(addresses, machineNetwork);
  if (nodeIps !== undefined) return nodeIps;
  throw new Failure('retry', 'the host lacks an address in the machine networks', {
    code: 'address-missing',
    expected: `one of each family in ${machineNetwork.join(', ')}`,
    found: addresses.map(({ address }) => address).join(', ') || 'no address',
  });
}

async function readAuthorities({ paths }: HostContext): Promise<LaptopAuthorities> {
  const read = (name: string) => readFile(`${paths.assetsTls}/${name}`, 'utf8');
  return {
    servingCa: {
      certificate: await read('kube-apiserver-serving-ca.crt'),
      key: await read('kube-apiserver-serving-ca.key'),
    },
    // Media of earlier releases have its key too, which is not used.
    adminCa: { certificate: await read('admin-ca.crt') },
  };
}
