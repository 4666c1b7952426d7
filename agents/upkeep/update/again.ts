import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { minorOf } from '../../../lib/base/minor.ts';
import { productVersion } from '../../../lib/base/version.ts';
import { addressEvents } from '../../../lib/change/identity/address-events.ts';
import type { Prepared } from '../../../lib/change/update/prepared.ts';
import { minorsChanged } from '../../../lib/change/update/successor.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { hostCommandNames } from '../../../lib/engine/agents/commands.ts';
import { agentLinks, commandLinks } from '../../../lib/engine/agents/links.ts';
import { agentsOf } from '../../../lib/engine/agents/table.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readPayload } from '../../../lib/payload/payload.ts';
import { renderAgain } from '../../../lib/render/kubernetes/again.ts';
import { readRenderInput, renderInputText } from '../../../lib/render/render-input.ts';
import type { KeylessInput } from '../../../lib/render/renderer.ts';
import { nodeUnits } from '../../../units/installed.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import { withPresentFiles } from '../../steps/read-once.ts';
import {
  clusterFile,
  differing,
  digestFiles,
  digestsOf,
  type NewParts,
  newLinks,
  newUnits,
  unitFiles,
  type WantedFile,
  withDigests,
} from './wanted-files.ts';

/**
 * Run by the new executable before anything is changed: what it needs on this host. It reads the host's
 * configuration and renders with its own code, so a release that cannot do that fails here.
 */
export async function prepareUpdate(
  paths: HostPaths,
  update: NewParts,
  signal: AbortSignal,
): Promise<Prepared> {
  const before = await readRenderInput(paths);
  if (before === undefined) {
    throw new Failure('usage', 'this host does not know what its control plane was rendered from', {
      code: 'update-refused',
      expected: '/etc/sno-agents/render-input.json',
      found: 'none: it was installed by an earlier release',
    });
  }
  const payload = await readPayload(update.payloadFolder);
  const digests = await digestsOf(update, signal);
  const emulates = emulatedBy(before.host, payload.versions);
  const next = {
    ...before,
    cluster: withDigests(await readCluster(paths), digests),
    host: {
      ...before.host,
      images: Object.fromEntries(payload.images.map(({ name, reference }) => [name, reference])),
      versions: payload.versions,
      emulates,
    },
  };
  const rendered = renderAgain(next);
  const files = await differing(paths, [
    ...rendered.files.map(({ path, contents, mode }) => ({ path, contents, mode })),
    ...(await podFiles(paths, rendered.staticPods)),
    ...unitFiles(nodeUnits),
    clusterFile(next.cluster),
    renderInputFile(next),
    addressEvents,
    ...digestFiles(digests),
  ]);
  const present = renderAgain(before).manifests;
  return {
    schemaVersion: 1,
    version: productVersion,
    files,
    enable: await newUnits(paths, nodeUnits),
    links: await newLinks(paths, [
      ...agentLinks([...agentsOf('node'), ...agentsOf('every')]),
      ...commandLinks(hostCommandNames),
    ]),
    ...(emulates === undefined
      ? {}
      : { emulation: { version: emulates, ...(await withAndWithout(paths, next)) } }),
    manifests: rendered.manifests.filter(
      ({ name, contents }) => present.find((each) => each.name === name)?.contents !== contents,
    ),
  };
}

/** The minor version in use before another one; where its emulation has not ended, still that. */
function emulatedBy(
  { emulates, versions }: KeylessInput['host'],
  next: KeylessInput['host']['versions'],
): string | undefined {
  const isOther = minorsChanged(next, versions).includes('kubernetes');
  return emulates ?? (isOther ? minorOf(versions.kubernetes) : undefined);
}

/** What says that an earlier version is emulated, and the same files without it. */
async function withAndWithout(
  paths: HostPaths,
  input: KeylessInput,
): Promise<{ during: WantedFile[]; after: WantedFile[] }> {
  const filesOf = async (of: KeylessInput) => [
    ...(await podFiles(paths, renderAgain(of).staticPods)),
    renderInputFile(of),
  ];
  const during = await filesOf(input);
  const after = await filesOf({ ...input, host: { ...input.host, emulates: undefined } });
  const isChanged = (_: WantedFile, index: number) =>
    during[index]?.contents !== after[index]?.contents;
  return { during: during.filter(isChanged), after: after.filter(isChanged) };
}

const renderInputFile = (input: KeylessInput): WantedFile => ({
  path: '/etc/sno-agents/render-input.json',
  contents: renderInputText(input),
  mode: 0o600,
});

/** Under the name that the component's manifest has on this host. */
async function podFiles(
  paths: HostPaths,
  pods: ReturnType<typeof renderAgain>['staticPods'],
): Promise<WantedFile[]> {
  const placed = await podsIn(paths.staticPods);
  const folder = paths.onHost(paths.staticPods);
  const files: WantedFile[] = [];
  for (const pod of pods) {
    const file = placed.find(({ component }) => component === pod.component)?.file ?? pod.file;
    const contents = await withPresentFiles(paths, pod);
    files.push({ path: join(folder, file), contents, mode: 0o600 });
  }
  return files;
}
