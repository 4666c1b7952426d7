import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Listr } from 'listr2';
import { failureData, failureSentence } from '../lib/base/errors/failure-data.ts';
import { productVersion } from '../lib/base/version.ts';
import { writeFileAtomic } from '../lib/host/files.ts';
import { ETCD_VERSION, KUBERNETES_VERSION } from './components/versions.ts';
import { readFaults, writeFaults } from './faults/result.ts';
import { prepareNamespace } from './host/namespace.ts';
import { Teardown } from './host/teardown.ts';
import { writeKept } from './kept.ts';
import type { MachineKind } from './machine-kind.ts';
import type { OwnFiles } from './own-system.ts';
import { outFolder, repository } from './paths.ts';
import { prepareHosts } from './prepare-hosts.ts';
import { listOptions } from './progress.ts';
import type { LabResult } from './result.ts';
import { scenarios } from './scenarios/index.ts';

export interface InsideOptions {
  readonly machine: MachineKind;
  readonly scenario: string;
  readonly own: OwnFiles;
  readonly keep: boolean;
  readonly resume: boolean;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * The part of the lab that runs inside its namespaces: the scenario, its result in
 * `lab/out/<scenario>/result.json`, and the teardown. Returns the exit code.
 */
export async function runScenario(options: InsideOptions): Promise<number> {
  const { folder, keep, own, resume, signal } = options;
  const out = outFolder(options.scenario, options.machine);
  const start = scenarios[options.scenario];
  if (start === undefined) throw new Error(`unknown scenario: ${options.scenario}`);
  await emptyFolder(out, resume);
  await prepareNamespace(signal);
  const prepared = await prepareHosts(options.machine, { own, folder }, signal);
  const teardown = new Teardown();
  const scenario = start({ ...prepared, folder, out, resume, teardown, signal });
  const began = Date.now();
  let failure: unknown;
  const seconds: Record<string, number> = {};
  const list = new Listr([], listOptions());
  for (const { title, run } of scenario.steps) {
    list.add({
      title,
      task: async (_, task) => {
        const stepBegan = Date.now();
        await run((line) => {
          task.output = line;
        });
        seconds[title] = (Date.now() - stepBegan) / 1000;
        task.title = `${title} (${seconds[title].toFixed(1)} s)`;
      },
    });
  }
  try {
    await list.run();
  } catch (error) {
    failure = error;
  }
  const ok = failure === undefined;
  try {
    const steps = await scenario.agentSteps();
    const result: LabResult = {
      schemaVersion: 1,
      version: productVersion,
      scenario: options.scenario,
      ok,
      ...(ok ? {} : { failure: failureData(failure) }),
      seconds: (Date.now() - began) / 1000,
      // The agents' own computing time, from the processor times in their journals.
      ownSeconds: Math.round(steps.reduce((sum, { cpu }) => sum + cpu, 0) * 1000) / 1000,
      stages: Object.entries(seconds).map(([name, took]) => ({ name, seconds: took })),
      steps: [...steps],
      versions: { kubernetes: `v${KUBERNETES_VERSION}`, etcd: `v${ETCD_VERSION}` },
    };
    await writeFileAtomic(join(out, 'result.json'), `${JSON.stringify(result, null, 2)}\n`, 0o644);
    printResult(result, out);
    if (keep && scenario.host !== undefined) {
      await scenario.host.openEntrance(signal);
      await writeKept(folder, { scenario: options.scenario, entrance: scenario.host.entrance });
      await aborted(signal);
    }
  } finally {
    await teardown.run();
  }
  return ok ? 0 : 1;
}

/** What has passed in it stays for a run that leaves it out. */
async function emptyFolder(out: string, resume: boolean): Promise<void> {
  const table = resume ? await readFaults(out) : undefined;
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  if (table !== undefined) await writeFaults(out, table);
}

function printResult({ failure, seconds, ownSeconds, steps }: LabResult, out: string): void {
  const width = Math.max(0, ...steps.map(({ agent, name }) => agent.length + name.length + 1));
  const lines = steps.map(({ agent, name, seconds: took, attempts }) => {
    const again = attempts > 1 ? `  (${attempts} attempts)` : '';
    return `  ${`${agent} ${name}`.padEnd(width)} ${took.toFixed(1).padStart(7)} s${again}`;
  });
  const verdict = failure === undefined ? 'done' : `FAILED: ${failureSentence(failure)}`;
  const own = `the agents' own work: ${ownSeconds.toFixed(1)} s of processor time`;
  const all = `${verdict}, ${seconds.toFixed(0)} s in all; see ${relative(repository, out)}`;
  const text = ['', ...lines, '', own, all, ''];
  process.stdout.write(`${text.join('\n')}\n`);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
