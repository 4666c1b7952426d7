import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { E2E_REGISTRIES } from '../../lab/components/e2e-images.ts';
import { besideHost, type KeptRun } from '../../lab/kept.ts';
import { hostOf } from '../../lab/site.ts';
import { Failure } from '../../lib/errors/failure.ts';
import { type Outcome, readGinkgoReport } from './ginkgo-report.ts';

export interface SuiteOptions {
  readonly host: KeptRun;
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
  const { host, images, deadlineMinutes, out, signal, report } = options;
  const work = join(host.folder, 'conformance');
  await mkdir(work, { recursive: true });
  const [program = '', ...args] = await besideHost(host, suiteCommand(options));
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
  const { host, e2eTest, kubernetes, focus, skip, processes, deadlineMinutes, out } = options;
  const [address] = hostOf(['IPv4']).addresses;
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
    `--kubeconfig=${join(host.folder, 'installation/auth/kubeconfig')}`,
    `--host=https://${address}:6443`,
    ...[`--report-dir=${out}`, '--report-complete-ginkgo'],
  ];
}
