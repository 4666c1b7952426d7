import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { E2E_REGISTRIES } from '../components/e2e-images.ts';
import { type Outcome, readGinkgoReport } from './ginkgo-report.ts';

/** A cluster as an administrator reaches it. */
export interface TestedCluster {
  /** Of its node. */
  readonly address: string;
  readonly kubeconfig: string;
  /** The command line of a program that runs in the network of its site. */
  beside(command: readonly string[]): Promise<string[]>;
}

export interface SuiteOptions {
  readonly cluster: TestedCluster;
  /** Result folders of the components. */
  readonly e2eTest: string;
  readonly images: string;
  readonly kubernetes: string;
  /** Regular expressions (RE2) for full names of tests. */
  readonly focus: string;
  readonly skip: string;
  /** Number of tests that run at the same time; those marked [Serial] run alone, at the end. */
  readonly processes: number;
  readonly deadlineMinutes: number;
  /** For what the tests write; created. */
  readonly work: string;
  /** An existing folder, for the log and the reports. */
  readonly out: string;
  readonly signal: AbortSignal;
  /** Called with the number of tests that have run. */
  report(tests: number): void;
}

/** After its deadline ginkgo interrupts the running tests, cleans up and writes its reports. */
const CLEAN_UP_MINUTES = 5;

/**
 * Runs e2e.test beside the host, as an administrator would: over the bridge, with auth/kubeconfig,
 * by the node's address. The reports are `junit_01.xml` and
 * `ginkgo/report.json`, all output is in `e2e.log`.
 */
export async function runSuite(options: SuiteOptions): Promise<Outcome> {
  const { cluster, images, deadlineMinutes, work, out, signal, report } = options;
  await mkdir(work, { recursive: true });
  const [program = '', ...args] = await cluster.beside(suiteCommand(options));
  const running = execa(program, args, {
    cwd: work,
    env: { KUBE_TEST_REPO_LIST: join(images, E2E_REGISTRIES), TMPDIR: work },
    stdin: 'ignore',
    all: true,
    buffer: false,
    reject: false,
    cancelSignal: signal,
    // It forwards the first signal to its processes, which clean up.
    forceKillAfterDelay: 30_000,
    timeout: (deadlineMinutes + CLEAN_UP_MINUTES) * 60_000,
  });
  running.all.pipe(createWriteStream(join(out, 'e2e.log')));
  let tests = 0;
  running.all.on('data', (chunk: Buffer) => {
    const done = chunk.toString().split('•').length - 1;
    tests += done;
    if (done > 0) report(tests);
  });
  await running;
  signal.throwIfAborted();
  const text = await readFile(join(out, 'ginkgo/report.json'), 'utf8').catch((cause: unknown) => {
    throw new Failure('fatal', 'e2e.test wrote no report', { fix: `see ${out}/e2e.log`, cause });
  });
  return readGinkgoReport(text);
}

function suiteCommand(options: SuiteOptions): string[] {
  const { cluster, e2eTest, kubernetes, focus, skip, processes, deadlineMinutes, out } = options;
  return [
    join(e2eTest, 'ginkgo'),
    ...['--no-color', `--procs=${processes}`, `--timeout=${deadlineMinutes}m`],
    ...[`--focus=${focus}`, ...(skip === '' ? [] : [`--skip=${skip}`])],
    join(e2eTest, 'e2e.test'),
    '--',
    ...[
      '--provider=skeleton',
      '--disable-log-dump',
      `--kubectl-path=${join(kubernetes, 'kubectl')}`,
    ],
    `--kubeconfig=${cluster.kubeconfig}`,
    `--host=https://${cluster.address}:6443`,
    ...[`--report-dir=${out}`, '--report-complete-ginkgo'],
  ];
}
