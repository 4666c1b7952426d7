/**
 * Starts a real host and runs a scenario on it.
 *
 * Outside its namespaces, missing packages are installed and components and the agents are
 * built. Then this file runs again inside namespaces of its own (see inside.ts).
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Listr } from 'listr2';
import { buildExecutables } from '../build/build.ts';
import { describeError, Failure } from '../lib/base/errors/failure.ts';
import { run } from '../lib/host/command.ts';
import { type Component, ensureComponent } from './components/component.ts';
import {
  installPackages,
  missingPackages,
  missingPrerequisites,
} from './components/debian-packages.ts';
import { componentsInOrder } from './components/index.ts';
import { KUBERNETES_VERSIONS } from './components/versions.ts';
import { exportImages } from './export-images.ts';
import { currentRunFolder, runInNamespace } from './host/namespace.ts';
import { removeDeadRuns } from './host/run-folder.ts';
import { runScenario } from './inside.ts';
import { endKept, enter, listKept } from './kept.ts';
import { isMachineKind, type MachineKind } from './machine-kind.ts';
import { type OwnFiles, requireFiles } from './own-system.ts';
import { distFolder, repository } from './paths.ts';
import { machineComponents } from './prepare-hosts.ts';
import { listOptions } from './progress.ts';
import { furtherComponents, machineScenarios, ofRelease, scenarios } from './scenarios/index.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const RELEASE_MS = 30 * 60_000;

const usage = `usage: npm run lab -- [options]
  --scenario NAME  one of: ${Object.keys(scenarios).join(', ')}
  --kubernetes M   the minor version of Kubernetes, one of: ${Object.keys(KUBERNETES_VERSIONS).join(', ')}. Default: the newest
  --resume         leave out the faults that have passed, by lab/out/faults.json
  --machine KIND   what its hosts are: container (default), vm or vm-bios: machines of qemu, which boot the ISO; for
                   ${machineScenarios.join(', ')}
  --live-iso FILE  for machines: a live ISO of another system, such as CoreOS, instead of the lab's
  --os-image FILE  for machines: the image of that system to write. Default: what its live ISO installs by itself
  --export-images DIR  run nothing: write the machines' live ISO and disk image there, for a machine of your own
  --keep           leave the host up in the background
  --enter          a shell on the host that --keep left up
  --clean          end the hosts that --keep left up, and free what dead runs left behind
`;

function readArguments() {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string', default: 'bootstrap-in-place' },
      // Of run.ts.
      kubernetes: { type: 'string' },
      resume: { type: 'boolean', default: false },
      machine: { type: 'string', default: 'container' },
      'live-iso': { type: 'string' },
      'os-image': { type: 'string' },
      'export-images': { type: 'string' },
      keep: { type: 'boolean', default: false },
      enter: { type: 'boolean', default: false },
      clean: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

const ownFiles = (options: ReturnType<typeof readArguments>): OwnFiles => ({
  ...(options['live-iso'] && { liveIso: options['live-iso'] }),
  ...(options['os-image'] && { osImage: options['os-image'] }),
});

/** Everything that a run of the scenario is built of. */
const componentsFor = (scenario: string, machine: MachineKind): Component[] => [
  ...Object.values(componentsInOrder),
  ...(furtherComponents[scenario] ?? []),
  ...(machine === 'container' ? [] : machineComponents),
];

interface Preparation {
  readonly machine: MachineKind;
  readonly components: readonly Component[];
  /** The hosts that it runs have the agents of a build or of a release; undefined if it runs none. */
  readonly agents: 'built' | 'released' | undefined;
}

/** Installs and builds. */
async function prepare(
  { machine, components, agents }: Preparation,
  signal: AbortSignal,
): Promise<void> {
  const list = new Listr(
    [
      {
        title: 'Debian packages',
        task: async (_, task) => {
          const missing = await missingPackages(machine);
          task.output = missing.join(' ') || 'all there';
          if (missing.length > 0) await installPackages(missing, signal);
        },
      },
      {
        title: 'Components',
        task: (_, task) =>
          task.newListr(
            components.map((component) => ({
              title: `${component.name} ${component.version}`,
              task: async (__, line) => {
                const report = (text: string) => {
                  line.output = text;
                };
                const began = Date.now();
                await ensureComponent(component, { signal, report });
                const seconds = Math.round((Date.now() - began) / 1000);
                if (seconds > 0) line.title = `${line.title} (${seconds} s)`;
              },
            })),
            { concurrent: true },
          ),
      },
      {
        title: 'Agents',
        enabled: () => agents !== undefined,
        task: async () => {
          await buildExecutables({ root: repository, dist: distFolder }, signal);
        },
      },
      {
        title: 'Release',
        enabled: () => agents === 'released',
        task: async () => {
          const release = join(repository, 'build/release.ts');
          await run(process.execPath, [release], { signal, deadlineMs: RELEASE_MS });
        },
      },
    ],
    listOptions(),
  );
  await list.run();
}

/** Runs the scenario in the background; returns when its host is kept running or the run has ended. */
async function runKept(args: readonly string[], signal: AbortSignal): Promise<number> {
  const before = new Set((await listKept()).map(({ folder }) => folder));
  const running = runInNamespace(import.meta.filename, args, {
    signal,
    detached: true,
    onLine: (line) => process.stdout.write(`${line}\n`),
  });
  let exitCode: number | undefined;
  running.then(
    (code) => {
      exitCode = code;
    },
    () => {
      exitCode = EXIT_FAILED;
    },
  );
  while (exitCode === undefined) {
    const kept = (await listKept()).find(({ folder }) => !before.has(folder));
    if (kept !== undefined) {
      process.stdout.write('The host keeps running.\n  enter it: npm run lab -- --enter\n');
      process.stdout.write('  end it:   npm run lab -- --clean\n');
      return 0;
    }
    await sleep(500);
  }
  return exitCode;
}

async function outside(signal: AbortSignal): Promise<number> {
  const options = readArguments();
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (scenarios[options.scenario] === undefined) {
    process.stderr.write(`Unknown scenario "${options.scenario}".\n${usage}`);
    return EXIT_USAGE;
  }
  const { machine } = options;
  if (!isMachineKind(machine)) {
    process.stderr.write(`Unknown machine "${machine}".\n${usage}`);
    return EXIT_USAGE;
  }
  if (machine !== 'container' && !machineScenarios.includes(options.scenario)) {
    process.stderr.write(`Scenario "${options.scenario}" does not run on machines.\n${usage}`);
    return EXIT_USAGE;
  }
  const own = ownFiles(options);
  if (machine === 'container' && Object.keys(own).length > 0) {
    process.stderr.write(`--live-iso and --os-image need --machine vm or vm-bios.\n${usage}`);
    return EXIT_USAGE;
  }
  await requireFiles(own);
  const missing = await missingPrerequisites();
  if (missing.length > 0) {
    const list = missing.map((line) => `  - ${line}\n`).join('');
    process.stderr.write(`The lab cannot run here. It needs:\n${list}`);
    return EXIT_USAGE;
  }
  const exported = options['export-images'];
  if (exported !== undefined) {
    await prepare({ machine: 'vm', components: machineComponents, agents: undefined }, signal);
    const made = await exportImages(exported, { signal, report: () => undefined });
    for (const path of made) process.stdout.write(`wrote ${path}\n`);
    return 0;
  }
  if (options.clean) {
    for (const kept of await listKept()) await endKept(kept);
    await removeDeadRuns(signal);
    return 0;
  }
  if (options.enter) {
    const kept = (await listKept()).at(-1);
    if (kept !== undefined) return enter(kept);
    process.stderr.write('No host is running. Start one with: npm run lab -- --keep\n');
    return EXIT_USAGE;
  }
  const components = componentsFor(options.scenario, machine);
  const agents = ofRelease.includes(options.scenario) ? 'released' : 'built';
  await prepare({ machine, components, agents }, signal);
  const args = process.argv.slice(2);
  if (options.keep) return runKept(args, signal);
  return runInNamespace(import.meta.filename, args, { signal });
}

async function main(): Promise<number> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => interrupted.abort(new Error(`interrupted by ${name}`)));
  }
  const { signal } = interrupted;
  const folder = currentRunFolder();
  if (folder === undefined) return outside(signal);
  // With --keep, the reader of this output has exited by now.
  process.stdout.on('error', () => undefined);
  const options = readArguments();
  const { scenario, machine, keep, resume } = options;
  if (!isMachineKind(machine)) return EXIT_USAGE;
  return runScenario({ scenario, machine, own: ownFiles(options), keep, resume, folder, signal });
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exit(error instanceof Failure && error.kind === 'usage' ? EXIT_USAGE : EXIT_FAILED);
}
