import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { minorOf } from '../../../lib/base/minor.ts';
import { productVersion } from '../../../lib/base/version.ts';
import { addressEvents } from '../../../lib/change/identity/address-events.ts';
import type { Prepared } from '../../../lib/change/update/prepared.ts';
import { minorsChanged } from '../../../lib/change/update/successor.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { hostCommandNames } from '../../../lib/engine/agents/commands.ts';
import { agentLinks, commandLinks, type LinkOnHost } from '../../../lib/engine/agents/links.ts';
import { agentsOf } from '../../../lib/engine/agents/table.ts';
import { exists, ifMissing, readTextIfPresent, sha256OfFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { payloadFile, readPayload } from '../../../lib/payload/payload.ts';
import { renderAgain } from '../../../lib/render/kubernetes/again.ts';
import { readRenderInput, renderInputText } from '../../../lib/render/render-input.ts';
import type { KeylessInput } from '../../../lib/render/renderer.ts';
import { nodeUnits } from '../../../units/installed.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import { withPresentFiles } from '../../steps/read-once.ts';

const UNITS = '/etc/systemd/system';
const EXECUTABLE = '/var/lib/sno-agents/bin/sno-agents';
const PAYLOAD = '/var/lib/sno-agents/payload';

/** A file of the host as it is to be. */
type WantedFile = Prepared['files'][number];

/**
 * Run by the new executable before anything is changed: what it wants to have on this host. It reads the host's
 * configuration with its own code and renders with it, so that a release that cannot is found out here.
 *
 * @param payloadFolder the new payload.
 * @param executable the new executable itself.
 */
export async function prepareUpdate(
  paths: HostPaths,
  { payloadFolder, executable }: { readonly payloadFolder: string; readonly executable: string },
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
  const payload = await readPayload(payloadFolder);
  const digests = {
    executable: await sha256OfFile(executable, signal),
    payload: await sha256OfFile(join(payloadFolder, payloadFile), signal),
  };
  const { payloadSha256: _, ...cluster } = await readCluster(paths);
  const emulates = emulatedBy(before.host, payload.versions);
  const next = {
    ...before,
    cluster: {
      ...cluster,
      executableSha256: digests.executable,
      payloadSha256: digests.payload,
    },
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
    ...nodeUnits.map(({ name, contents }) => ({ path: join(UNITS, name), contents, mode: 0o644 })),
    {
      path: '/etc/sno-agents/cluster.json',
      contents: `${JSON.stringify(next.cluster, null, 2)}\n`,
      mode: 0o600,
    },
    renderInputFile(next),
    addressEvents,
    digestFile('executable', digests.executable, EXECUTABLE),
    digestFile('payload', digests.payload, `${PAYLOAD}/${payloadFile}`),
  ]);
  const present = renderAgain(before).manifests;
  return {
    schemaVersion: 1,
    version: productVersion,
    files,
    enable: await newUnits(paths),
    links: await newLinks(paths),
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

const digestFile = (name: string, digest: string, path: string): WantedFile => ({
  path: `/etc/sno-agents/${name}.sha256`,
  contents: `${digest}  ${path}\n`,
  mode: 0o644,
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

/** With the mode that the file has now, if it exists. */
async function differing(paths: HostPaths, wanted: readonly WantedFile[]): Promise<WantedFile[]> {
  const found: WantedFile[] = [];
  for (const file of wanted) {
    if ((await readTextIfPresent(paths.at(file.path))) === file.contents) continue;
    const mode = (await lstat(paths.at(file.path)).catch(ifMissing))?.mode ?? file.mode;
    found.push({ ...file, mode: mode & 0o777 });
  }
  return found;
}

async function newUnits(paths: HostPaths): Promise<string[]> {
  const found: string[] = [];
  for (const { name, enabled } of nodeUnits) {
    if (enabled && !(await exists(paths.at(join(UNITS, name))))) found.push(name);
  }
  return found;
}

async function newLinks(paths: HostPaths): Promise<LinkOnHost[]> {
  const found: LinkOnHost[] = [];
  const names = [...agentsOf('node'), ...agentsOf('every')];
  for (const link of [...agentLinks(names), ...commandLinks(hostCommandNames)]) {
    if (!(await exists(paths.at(link.path)))) found.push(link);
  }
  return found;
}
