import { chmod, mkdir, open, readFile, realpath, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { underlying } from '../../../lib/cluster/installation/in-place/places.ts';
import {
  type StagedSystem,
  stagedFile,
} from '../../../lib/cluster/installation/in-place/staged.ts';
import { installingAgents } from '../../../lib/engine/agents/table.ts';
import { journalPath } from '../../../lib/engine/steps/agent-command.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import {
  exists,
  ifMissing,
  readTextIfPresent,
  sha256,
  sha256OfFile,
  syncDirectory,
} from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import {
  type PlainEntries,
  type PlainFile,
  plainEntries,
} from '../../../lib/render/ignition/plain-entries.ts';
import { effectiveConfig } from '../../../lib/render/ignition/validate.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { requireApplicable } from '../../steps/in-place/applicable.ts';

const UNITS = '/etc/systemd/system';
/** Room for the folders, and for what the system writes meanwhile. */
const SPARE_BYTES = 64 << 20;

/**
 * Writes the combined Ignition config to the disk below the folders in memory: each file beside its place, under a name
 * that nothing reads. Until the next step the disk is that of a host that has not begun.
 */
export const stage: StepBody<HostContext> = {
  name: 'stage',
  leaves: 'each file of the combined Ignition config beside its place on the disk, read back',
  touches: ['disk'],
  retries: true,
  neededUntil: 'commit',
  input: async ({ cluster, paths }) => [
    cluster.clusterId,
    sha256((await readTextIfPresent(paths.masterIgnition)) ?? ''),
  ],
  async holds({ paths, cluster }, { signal }) {
    const disk = underlying(paths);
    const staged = await stagedFile(disk).read();
    if (staged?.clusterId !== cluster.clusterId) return false;
    for (const { staged: place, sha256: expected } of staged.files) {
      const found = await sha256OfFile(disk.at(place), signal).catch(ifMissing);
      if (found !== expected) return false;
    }
    return true;
  },
  async run({ paths, cluster }) {
    const disk = underlying(paths);
    const entries = await installed(paths);
    await requireSpace(disk, entries);
    const earlier = await removeEarlier(disk);
    const files = [...entries.files, ...(await journals(paths))];
    const made = [...earlier, ...(await missingFolders(disk, entries, files))];
    await stagedFile(disk).write(describe(cluster.clusterId, entries, files, made));
    for (const { path, mode } of entries.directories) {
      await makeFolder(disk, path);
      await chmod(disk.at(path), mode);
    }
    for (const { path } of entries.links) await makeFolder(disk, dirname(path));
    for (const [at, file] of files.entries()) {
      await makeFolder(disk, dirname(file.path));
      await writeSynced(disk.at(stagedPath(file.path, at)), file);
    }
    const folders = new Set(files.map(({ path }) => dirname(disk.at(path))));
    for (const folder of folders) await syncDirectory(folder);
    return done(`${files.length} files`);
  },
};

async function installed({ masterIgnition }: HostPaths): Promise<PlainEntries> {
  const origin = 'the Ignition config of the installed host';
  const { config } = effectiveConfig(parseConfig(await readFile(masterIgnition, 'utf8'), origin));
  requireApplicable(origin, config);
  return plainEntries(config, UNITS);
}

/** They are in memory; the record of the installation is built from them. */
async function journals(paths: HostPaths): Promise<PlainFile[]> {
  const found: PlainFile[] = [];
  for (const { name } of installingAgents.live) {
    const text = (await readTextIfPresent(journalPath(paths, name))) ?? '';
    const path = `/var/lib/sno-agents/live/${name}.jsonl`;
    found.push({ path, mode: 0o644, contents: Buffer.from(text) });
  }
  return found;
}

/** The same at each attempt: a file of a killed one is replaced, and none is left. */
const stagedPath = (path: string, at: number) =>
  join(dirname(path), `.${basename(path)}.sno-staged-${at}`);

const describe = (
  clusterId: string,
  { links, enabled, disabled }: PlainEntries,
  files: readonly PlainFile[],
  made: readonly string[],
): StagedSystem => ({
  clusterId,
  state: 'staging',
  folders: [...new Set(made)],
  files: files.map(({ path, contents }, at) => ({
    ...{ path, staged: stagedPath(path, at), sha256: sha256(contents) },
  })),
  links: links.map(({ path, target }) => ({ path, target })),
  enabled: [...enabled],
  disabled: [...disabled],
});

/** Of an attempt that the power was cut in: that host has other keys. @returns the folders that it may have made */
async function removeEarlier(disk: HostPaths): Promise<readonly string[]> {
  const earlier = await stagedFile(disk).read();
  for (const { staged } of earlier?.files ?? []) await rm(disk.at(staged), { force: true });
  return earlier?.folders ?? [];
}

/** Those that have to be made. */
async function missingFolders(
  disk: HostPaths,
  { directories, links }: PlainEntries,
  files: readonly PlainFile[],
): Promise<string[]> {
  const missing = new Set<string>();
  const wanted = [...files, ...links].map(({ path }) => dirname(path));
  for (const path of [...wanted, ...directories.map(({ path }) => path)]) {
    for (let at = path; !missing.has(at) && !(await exists(disk.at(at))); at = dirname(at)) {
      missing.add(at);
    }
  }
  return [...missing];
}

/** A link on the way must not lead out of the disk. */
async function makeFolder(disk: HostPaths, path: string): Promise<void> {
  const place = disk.at(path);
  if (!(await exists(place))) {
    await makeFolder(disk, dirname(path));
    await mkdir(place);
    // The unit's mask would leave it to root alone.
    await chmod(place, 0o755);
    await syncDirectory(dirname(place));
  }
  const found = await realpath(place);
  if (found === disk.root || found.startsWith(`${disk.root.replace(/\/$/, '')}/`)) return;
  throw new Failure('fatal', `${path} is not on this disk`, {
    code: 'in-place-unsupported',
    expected: 'a folder, or a relative link to one',
    found: `a link to ${disk.onHost(found)}`,
  });
}

async function writeSynced(path: string, { mode, contents }: PlainFile): Promise<void> {
  await rm(path, { force: true });
  await using file = await open(path, 'wx', mode);
  await file.chmod(mode);
  await file.writeFile(contents);
  await file.sync();
}

async function requireSpace(disk: HostPaths, { files }: PlainEntries): Promise<void> {
  const needed = files.reduce((sum, { contents }) => sum + contents.length, SPARE_BYTES);
  const { bavail, bsize } = await statfs(disk.root);
  if (bavail * bsize >= needed) return;
  throw new Failure('retry', 'the disk has no room for the installed host', {
    code: 'disk-full',
    expected: `${needed} bytes`,
    found: `${bavail * bsize} bytes`,
    fix: 'Free space on the disk. The bootstrap waits for it.',
  });
}
