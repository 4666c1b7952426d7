/**
 * `npm run test:openshift-install`: builds openshift-install 4.19 (cached; it prints how long that
 * took), compares its verdict on every install-config of the unit tests with that of `sno create`,
 * and takes over each Ignition config that it creates. Needs Go for the build. The last line printed
 * is `N passed, N failed, N skipped`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureComponent } from '../../lab/components/component.ts';
import { openshiftInstaller } from '../../lab/components/openshift/installer.ts';
import { agentsExecutable } from '../unit/cli/agents-executable.ts';
import { AMD64, ARM64 } from '../unit/payload/elf/program.ts';
import { type InstallConfigCase, installConfigCases } from './cases.ts';
import { takeOverFaults } from './check-taken-over.ts';
import { compareVerdicts, type Verdicts } from './compare.ts';
import { differences, notTakenOver } from './differences.ts';
import { verdictOfInstaller, verdictOfSno } from './programs.ts';

const DEADLINE_MS = 120 * 60_000;
/** Each takes a second and a half of a processor. */
const PARALLEL = 2;
const print = (line: string) => process.stdout.write(`${line}\n`);

interface Judged {
  readonly verdicts: Verdicts;
  /** Undefined if there is nothing to take over. */
  readonly takeOver: readonly string[] | undefined;
}

async function judge(
  { component, folder, signal }: { component: string; folder: string; signal: AbortSignal },
  each: InstallConfigCase,
  index: number,
): Promise<Judged> {
  const at = (name: string) => join(folder, `${index}-${name}`);
  const executable = join(folder, /architecture: arm64/.test(each.text) ? 'arm64' : 'amd64');
  const sno = await verdictOfSno(each, at('sno'), executable);
  const installer = await verdictOfInstaller(component, each, at('installer'), signal);
  const isBoth = sno.isAccepted && installer.isAccepted;
  const takeOver = isBoth
    ? await takeOverFaults(at('installer'), at('taken-over'), executable)
    : undefined;
  for (const name of ['sno', 'installer', 'taken-over']) {
    await rm(at(name), { recursive: true, force: true });
  }
  return { verdicts: { name: each.name, sno, installer }, takeOver };
}

async function judgeAll(component: string, signal: AbortSignal): Promise<Judged[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sno-openshift-install-'));
  try {
    await writeFile(join(folder, 'amd64'), agentsExecutable({ machine: AMD64 }));
    await writeFile(join(folder, 'arm64'), agentsExecutable({ machine: ARM64 }));
    const judged: Judged[] = [];
    const queue = installConfigCases.entries();
    const work = async () => {
      for (const [index, each] of queue) {
        judged[index] = await judge({ component, folder, signal }, each, index);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    return judged;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function main(): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const from = performance.now();
  const minutes = () => `${((performance.now() - from) / 60_000).toFixed(1)} minutes`;
  const component = await ensureComponent(openshiftInstaller, { signal, report: print });
  print(`openshift-install ${openshiftInstaller.version} is there after ${minutes()}`);
  const judged = await judgeAll(component, signal);
  const verdicts = compareVerdicts(
    judged.map((each) => each.verdicts),
    differences,
  );
  // The installer accepted them: it has created the config.
  const takeOvers = compareVerdicts(
    judged.flatMap(({ verdicts: { name, installer }, takeOver: faults }) =>
      faults === undefined
        ? []
        : [
            {
              name: `take-over of ${name}`,
              installer,
              sno: { isAccepted: faults.length === 0, faults },
            },
          ],
    ),
    notTakenOver,
  );
  const both = [verdicts, takeOvers];
  for (const { name, reasons } of both.flatMap(({ explained }) => explained)) {
    print(`  differs  ${name}: ${reasons.join('; ')}`);
  }
  const failures = both.flatMap(({ unexplained, stale }) => [
    ...unexplained,
    ...stale.map(({ reason, fault }) => `no longer a difference: ${reason} (${fault})`),
  ]);
  for (const failure of failures) print(`  FAIL  ${failure}`);
  const { accepted, refused, explained } = verdicts;
  print(
    `Both accept ${accepted.length}, both refuse ${refused.length}, ${explained.length} differ for a reason`,
  );
  print(`Ignition configs taken over: ${takeOvers.accepted.length}; ${minutes()} in all`);
  const passed = both.flatMap((each) => [each.accepted, each.refused, each.explained]).flat();
  print(`${passed.length} passed, ${failures.length} failed, 0 skipped`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

await main();
