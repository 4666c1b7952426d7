import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import { exists } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { RenderEffects } from '../renderer.ts';
import { commandOf, imageOf } from './command.ts';
import { dependencies, longestChainFirst } from './graph.ts';
import type { Podman } from './podman.ts';
import type { PulledRelease } from './release.ts';
import { runTasks } from './schedule.ts';
import { stagesIn, type VersionedStage } from './stage.ts';
import { INSTALLER_FILES } from './stages/inputs.ts';
import { STAGES } from './stages.ts';
import { copyInstallerFiles, makeView, type Tree } from './tree.ts';

/** Most of a stage's time is one processor's; one more starts or ends while the others compute. */
const PARALLEL_STAGES = Math.max(4, availableParallelism() + 1);

/** Of one stage: they take seconds. */
const STAGE_MS = 5 * 60_000;

interface Rendering extends RenderEffects {
  readonly podman: Podman;
  readonly release: PulledRelease;
  readonly paths: HostPaths;
}

/**
 * Runs the render stages of a release and returns the tree with all results. Each stage works in a
 * folder of its own, on copies of the installer's files and of what the stages that it depends on
 * copied. All results are put together in the order of the table, so the order in which stages end
 * changes nothing.
 */
export async function runStages(rendering: Rendering): Promise<Tree> {
  const { release, paths, work, signal, report } = rendering;
  const installer = join(work, 'installer');
  await copyInstallerFiles(paths, release.imageReferences, installer);
  const stages = stagesIn(release.stages, STAGES);
  const before = dependencies(stages, INSTALLER_FILES);
  await expectInstallerFiles(stages, installer);
  const withResults = (names: ReadonlySet<string>) =>
    stages
      .filter(({ name }) => names.has(name))
      .map((stage) => ({ stage, results: resultsOf(work, stage.name).assets }));
  await runTasks({
    tasks: longestChainFirst(stages, before).map((stage) => ({
      ...stage,
      after: before.get(stage.name) ?? new Set(),
    })),
    limit: PARALLEL_STAGES,
    signal,
    run: async (stage, stop) => {
      const view = resultsOf(work, stage.name);
      await makeView(installer, withResults(stage.after), view);
      await runStage(stage, view.assets, { ...rendering, signal: stop });
    },
    running: (names, ended) =>
      report(`render stages (${ended} of ${stages.length}): ${names.join(', ')}`),
  });
  const all = { assets: join(work, 'all/assets'), host: join(work, 'all/host') };
  await makeView(installer, withResults(new Set(stages.map(({ name }) => name))), all);
  return all;
}

function resultsOf(work: string, stage: string): Tree {
  const folder = join(work, 'stages', stage);
  return { assets: join(folder, 'assets'), host: join(folder, 'host') };
}

async function runStage(
  stage: VersionedStage,
  assets: string,
  { podman, release, paths, signal }: Rendering,
): Promise<void> {
  const { name, image, user, environment, hostFolders = [] } = stage;
  await podman.run(
    {
      name: `sno-render-${name}`,
      image: imageOf(release, image),
      command: commandOf(stage, release, (path) => existsSync(join(assets, path))),
      network: 'host',
      ...(user === undefined ? {} : { user: '0' }),
      ...(environment === undefined ? {} : { environment }),
      volumes: [
        `${assets}:/assets:z`,
        ...(await overlays(hostFolders, join(assets, '../overlay'), paths)),
      ],
    },
    { signal, deadlineMs: STAGE_MS },
  );
}

/** Each folder that the host has, as an overlay whose changes stay in the work folder. */
async function overlays(
  folders: readonly string[],
  work: string,
  paths: Pick<HostPaths, 'at'>,
): Promise<string[]> {
  const volumes: string[] = [];
  for (const folder of folders) {
    if (!(await exists(paths.at(folder)))) continue;
    const [upper, working] = [join(work, folder, 'upper'), join(work, folder, 'work')];
    await mkdir(upper, { recursive: true });
    await mkdir(working, { recursive: true });
    volumes.push(`${paths.at(folder)}:${folder}:O,upperdir=${upper},workdir=${working}`);
  }
  return volumes;
}

async function expectInstallerFiles(
  stages: readonly VersionedStage[],
  installer: string,
): Promise<void> {
  for (const { name, needs } of stages) {
    for (const path of needs) {
      const isInstallers = INSTALLER_FILES.some((file) => file === path);
      if (!isInstallers || (await exists(join(installer, path)))) continue;
      throw new Failure('fatal', `/opt/openshift/${path} does not exist`, {
        code: 'render-failed',
        subject: path,
        expected: `the file of openshift-install that the render stage ${name} reads`,
        fix: 'Create the Ignition config again, with "sno create single-node-ignition-config --from-ignition".',
      });
    }
  }
}
