import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureComponent } from '../../lab/components/component.ts';
import { KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { type ControlPlane, startControlPlane } from '../../lab/servers/control-plane.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { administrators } from '../../lib/pki/kubeconfig.ts';
import type { BenchContext, Benchmark, Row } from '../benchmark.ts';
import { bundledProgram } from '../bundled-program.ts';
import { expectGo } from '../go.ts';
import { expectGnuTime, measureProcess, type ProcessCost } from '../measured-process.ts';
import { compare, interleaved, type Pair } from '../statistics.ts';
import { type AuditLog, prepareAuditLog } from './audit.ts';
import { CREATE_LOOP_VERSIONS, createLoop } from './create-loop.ts';
import { definitionNames, writeManifestSet } from './manifest-set.ts';

const REPETITIONS = 3;
const ONE_MS = 6 * 60_000;
const LIFETIME_MS = 25 * 60_000;

const asItIs =
  'The create loop as cluster-bootstrap runs it, with its client limit of 5 requests a second.';
const unlimited =
  'The same loop without that limit, which is hypothetical: the sequential requests and the repeated passes remain.';

interface ApplyCost extends ProcessCost {
  readonly requests: number;
}

/** A program that creates the manifests of a folder: its name and command line. */
interface Applier {
  readonly name: string;
  command(kubeconfig: string, manifests: string): readonly [program: string, ...args: string[]];
}

export const apply: Benchmark = {
  name: 'apply',
  compares: 'creating 500 manifests: bootkube compared with the create loop of cluster-bootstrap',
  deadlineMs: 60 * 60_000,
  async run(signal, context) {
    await expectGo();
    await expectGnuTime();
    const { folder, report } = context;
    const loop = join(await ensureComponent(createLoop, { signal, report }), 'create-loop');
    const ours = await bundledProgram(join(import.meta.dirname, 'apply.ts'), folder);
    const audit = await prepareAuditLog(folder);
    const servers = join(folder, 'servers');
    const options = { lifetimeMs: LIFETIME_MS, args: audit.args };
    const controlPlane = await startControlPlane(servers, signal, options);
    try {
      const trial = new Trial(controlPlane, audit, signal, context);
      const rows = await measureAll(trial, {
        ours: { name: 'ours', command: (...args) => [process.execPath, ours, ...args] },
        limited: { name: 'limited', command: (...args) => [loop, ...args] },
        unlimited: { name: 'unlimited', command: (...args) => [loop, ...args, 'unlimited'] },
      });
      return { rows, versions: { kubernetes: KUBERNETES_VERSION, ...CREATE_LOOP_VERSIONS } };
    } finally {
      await controlPlane.stop();
    }
  },
};

type Appliers = Readonly<Record<'ours' | 'limited' | 'unlimited', Applier>>;

/** The limited loop takes minutes and does not vary, so it runs once, paired with one of ours. */
async function measureAll(trial: Trial, appliers: Appliers): Promise<Row[]> {
  await trial.run(appliers.ours, 'warm-up');
  const free = await interleaved(
    REPETITIONS,
    (at) => trial.run(appliers.ours, `ours-${at}`),
    (at) => trial.run(appliers.unlimited, `unlimited-${at}`),
  );
  const limited = await interleaved(
    1,
    () => trial.run(appliers.ours, 'ours-last'),
    () => trial.run(appliers.limited, 'limited-0'),
  );
  return [
    row('wall time', 's', limited, asItIs, ({ wallSeconds }) => wallSeconds),
    row('wall time', 's', free, unlimited, ({ wallSeconds }) => wallSeconds),
    row('processor time', 's', free, unlimited, ({ cpuSeconds }) => cpuSeconds),
    row('peak memory', 'MiB', free, unlimited, ({ peakMiB }) => peakMiB),
    row('requests', 'count', free, unlimited, ({ requests }) => requests),
  ];
}

function row(
  what: string,
  unit: string,
  pairs: readonly Pair<ApplyCost>[],
  note: string,
  pick: (cost: ApplyCost) => number,
): Row {
  return compare(
    { what, unit, note },
    pairs.map(({ ours }) => pick(ours)),
    pairs.map(({ theirs }) => pick(theirs)),
  );
}

/** Runs appliers on one server, each with its own manifests and user. */
class Trial {
  readonly #controlPlane: ControlPlane;
  readonly #audit: AuditLog;
  readonly #signal: AbortSignal;
  readonly #context: BenchContext;

  constructor(
    controlPlane: ControlPlane,
    audit: AuditLog,
    signal: AbortSignal,
    context: BenchContext,
  ) {
    this.#controlPlane = controlPlane;
    this.#audit = audit;
    this.#signal = signal;
    this.#context = context;
  }

  async run({ name, command }: Applier, set: string): Promise<ApplyCost> {
    const folder = join(this.#context.folder, set);
    const [manifests, kubeconfig] = [join(folder, 'manifests'), join(folder, 'kubeconfig')];
    await mkdir(folder);
    await writeManifestSet(set, manifests);
    const user = { name: `bench-${set}`, groups: [administrators] };
    await writeFile(kubeconfig, await this.#controlPlane.kubeconfig(user), { mode: 0o600 });
    const [program, ...args] = command(kubeconfig, manifests);
    const limits = { signal: this.#signal, deadlineMs: ONE_MS };
    const cost = await measureProcess(program, args, folder, limits);
    const requests = await this.#audit.requestsOf(user.name);
    this.#context.report(`${name}: ${cost.wallSeconds.toFixed(1)} s, ${requests} requests`);
    await this.#removeDefinitions(set);
    await rm(folder, { recursive: true });
    return { ...cost, requests };
  }

  /** So that the next run starts with the same number of definitions. */
  async #removeDefinitions(set: string): Promise<void> {
    using client = await this.#controlPlane.client();
    const limits = { signal: this.#signal, deadlineMs: 30_000 };
    for (const name of definitionNames(set)) {
      await client.remove(resources.customResourceDefinitions, { name }, limits);
    }
  }
}
