/**
 * `npm run test:conformance`: Kubernetes' conformance tests against an all-in-one host of the lab;
 * docs/conformance.md describes them. The last line printed is `N passed, N failed, N skipped`.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureComponent } from '../../lab/components/component.ts';
import {
  installPackages,
  missingPackages,
  missingPrerequisites,
} from '../../lab/components/debian-packages.ts';
import { e2eImages } from '../../lab/components/e2e-images.ts';
import { e2eTest } from '../../lab/components/e2e-test.ts';
import { kubernetes } from '../../lab/components/kubernetes.ts';
import { KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { exceptions } from '../../lab/conformance/exceptions.ts';
import type { Outcome } from '../../lab/conformance/ginkgo-report.ts';
import { runSuite } from '../../lab/conformance/suite.ts';
import { judge, type Verdict } from '../../lab/conformance/verdict.ts';
import { besideHost, endKept } from '../../lab/kept.ts';
import { outFolder, repository } from '../../lab/paths.ts';
import { hostOf } from '../../lab/site.ts';
import { EXIT, exitCodeFor } from '../../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { importImages, keptHosts, SCENARIO, startHost } from './host.ts';

const EXIT_FAILED = 1;
const REPORT_EVERY = 20;

const usage = `usage: npm run test:conformance -- [options]
  --focus RE    tests to run, by full name; default: \\[Conformance\\]
  --skip RE     tests not to run
  --procs N     tests that run at the same time; default: 8
  --minutes N   deadline of the tests; default: 40
  --kept        use the host left by "npm run lab -- --scenario ${SCENARIO} --keep", and leave it
`;

const print = (line: string) => process.stdout.write(`${line}\n`);

function readArguments() {
  const { focus, skip, procs, minutes, kept, help } = parse().values;
  return { focus, skip, procs: positive(procs), minutes: positive(minutes), kept, help };
}

function parse() {
  try {
    return parseArgs({
      options: {
        focus: { type: 'string', default: '\\[Conformance\\]' },
        skip: { type: 'string', default: '' },
        procs: { type: 'string', default: '8' },
        minutes: { type: 'string', default: '40' },
        kept: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (cause) {
    throw new Failure('usage', 'invalid arguments', { fix: 'see --help', cause });
  }
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Failure('usage', `not a positive number: ${text}`);
}

type Options = ReturnType<typeof readArguments>;

/** Returns the folders of the components, built if they are not cached. */
async function prepare(signal: AbortSignal) {
  const missing = await missingPackages();
  if (missing.length > 0) await installPackages(missing, signal);
  const built = (component: typeof e2eTest) =>
    ensureComponent(component, {
      signal,
      report: (line) => print(`  ${component.name}: ${line}`),
    });
  return {
    kubernetes: await built(kubernetes),
    e2eTest: await built(e2eTest),
    images: await built(e2eImages),
  };
}

async function runConformance(options: Options, signal: AbortSignal): Promise<number> {
  const { focus, skip, kept } = options;
  const components = await prepare(signal);
  const host = kept ? (await keptHosts()).at(-1) : await startHost(signal);
  if (host === undefined) {
    throw new Failure('usage', 'no all-in-one host is running', {
      fix: `npm run lab -- --scenario ${SCENARIO} --keep`,
    });
  }
  try {
    const out = outFolder(SCENARIO);
    await mkdir(out, { recursive: true });
    // Of an earlier run on this host; the host's own logs are beside them.
    for (const name of ['e2e.log', 'ginkgo', 'junit_01.xml', 'results.json']) {
      await rm(join(out, name), { recursive: true, force: true });
    }
    await importImages(host, components.images, signal);
    print(`Kubernetes ${KUBERNETES_VERSION}, focus ${focus}${skip === '' ? '' : `, skip ${skip}`}`);
    const began = Date.now();
    const outcome = await runSuite({
      ...components,
      ...{ out, focus, skip, signal },
      work: join(host.folder, 'conformance'),
      cluster: {
        address: hostOf(['IPv4']).addresses[0],
        kubeconfig: join(host.folder, 'installation/auth/kubeconfig'),
        beside: (command) => besideHost(host, command),
      },
      processes: options.procs,
      deadlineMinutes: options.minutes,
      report: (tests) => {
        if (tests % REPORT_EVERY === 0) print(`  ${tests} tests have run`);
      },
    });
    const verdict = judge(outcome, exceptions);
    const seconds = Math.round((Date.now() - began) / 1000);
    const result = {
      schemaVersion: 1,
      kubernetes: `v${KUBERNETES_VERSION}`,
      ...{ focus, skip, seconds, ok: verdict.ok, ...outcome, outdated: verdict.outdated },
    };
    await writeFileAtomic(join(out, 'results.json'), `${JSON.stringify(result, null, 2)}\n`, 0o644);
    printVerdict(outcome, verdict);
    print(`${seconds} s; see ${relative(repository, out)}`);
    const { passed, failed, skipped } = outcome;
    print(`${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`);
    return verdict.ok ? 0 : EXIT_FAILED;
  } finally {
    if (!kept) await endKept(host);
  }
}

function printVerdict({ skipped, notRun }: Outcome, verdict: Verdict): void {
  for (const { test, message } of verdict.unexpected) {
    print(`  FAIL  ${test}\n        ${message.split('\n').slice(0, 8).join('\n        ')}`);
  }
  for (const { test, reason } of verdict.expected) {
    print(`  exception  ${test}: ${reason}`);
  }
  for (const { test, message } of skipped) print(`  skip  ${test}: ${message}`);
  for (const test of verdict.outdated) {
    print(`  passed, although docs/conformance.md says that it cannot: ${test}`);
  }
  if (notRun > 0) print(`  FAIL  ${notRun} tests did not run before the deadline`);
}

async function main(): Promise<number> {
  const options = readArguments();
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const missing = await missingPrerequisites();
  if (missing.length > 0) {
    print(`The lab cannot run here. It needs:\n${missing.map((line) => `  - ${line}`).join('\n')}`);
    return EXIT.usage;
  }
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => interrupted.abort(new Error(`interrupted by ${name}`)));
  }
  return runConformance(options, interrupted.signal);
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exit(exitCodeFor(error));
}
