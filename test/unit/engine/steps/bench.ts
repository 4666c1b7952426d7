import { readFileSync } from 'node:fs';
import { openAgentLog } from '../../../../lib/base/log/agent-log.ts';
import { fingerprint } from '../../../../lib/engine/steps/fingerprint.ts';
import { Journal, type JournalEntry } from '../../../../lib/engine/steps/journal.ts';
import { Reporter } from '../../../../lib/engine/steps/reporter.ts';
import { PlanRunner, type RunRange } from '../../../../lib/engine/steps/runner.ts';
import { done, type Outcome, type Plan, type Step } from '../../../../lib/engine/steps/step.ts';
import type { BootMoment } from '../../../../lib/host/boot-moment.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

export type Body = Step<null>['run'];

export interface StepOptions extends Partial<Omit<Step<null>, 'name' | 'run'>> {
  /** The actions of the first, second … run; the last one is repeated. */
  readonly runs?: readonly (Body | Outcome)[];
}

/** A host consisting of a set of words: a step adds its name. */
export class Bench {
  readonly root: string;
  readonly present = new Set<string>();
  readonly ran: string[] = [];
  readonly looked: string[] = [];
  readonly lines: string[] = [];
  /** Entries sent to journald if it reads them; it rejects them, so each is also a line. */
  readonly entries: string[] = [];
  readonly steps: Step<null>[] = [];
  readonly stop = new AbortController();
  /** What the plan announces, as `STEP` or `STEP: MESSAGE`. */
  readonly announced: string[] = [];
  /** Time since boot, set by the test. */
  now: BootMoment = { boot: 'boot-1', up: 100 };
  graceMs = 1000;
  /** Lines as journald receives them, including debug messages. */
  priorities = false;

  constructor(root: string) {
    this.root = root;
  }

  step(name: string, { runs = [done()], ...more }: StepOptions = {}): this {
    let count = 0;
    this.steps.push({
      name,
      leaves: `the ${name}`,
      touches: [],
      deadlineMs: 60_000,
      input: () => name,
      holds: async () => {
        this.looked.push(name);
        return this.present.has(name);
      },
      run: async (context, progress) => {
        this.ran.push(name);
        const body = runs[Math.min(count++, runs.length - 1)] ?? done();
        const outcome = typeof body === 'function' ? await body(context, progress) : body;
        if (outcome.kind === 'done') this.present.add(name);
        return outcome;
      },
      ...more,
    });
    return this;
  }

  async run(range: RunRange = {}) {
    this.ran.length = 0;
    this.looked.length = 0;
    const plan: Plan<null> = {
      agent: 'bench',
      unit: 'bench',
      purpose: 'tests',
      steps: this.steps,
      announce: async (_context, { step, failure }) => {
        this.announced.push(failure === undefined ? step : `${step}: ${failure.message}`);
      },
    };
    const reporter = new Reporter(plan, hostPaths(this.root));
    const runner = new PlanRunner(plan, null, {
      journal: await this.journal(),
      ...openAgentLog('bench', {
        write: (line) => this.lines.push(line),
        isJournal: this.priorities,
        journald: {
          send: async (entry) => {
            this.entries.push(entry);
            return false;
          },
        },
      }),
      reporter,
      clock: async () => this.now,
      stop: this.stop.signal,
      graceMs: this.graceMs,
    });
    try {
      return await runner.run(range);
    } finally {
      // By then its files are written, and the folder can be removed.
      await reporter.agentEnds('stopped', 0);
    }
  }

  journal(): Promise<Journal> {
    return Journal.open(`${this.root}/journal.jsonl`);
  }

  /** Writes journal entries as an earlier run would have. */
  async remember(...entries: Partial<JournalEntry>[]): Promise<void> {
    const journal = await this.journal();
    for (const entry of entries) {
      await journal.append({
        at: '2026-01-01T00:00:00Z',
        ...this.now,
        step: 'a',
        input: fingerprint(entry.step ?? 'a'),
        event: 'started',
        attempt: 1,
        ...entry,
      });
    }
  }

  /** The service record as words. */
  stages(): string[] {
    const path = `${hostPaths(this.root).serviceRecords}/bench.json`;
    const record: Record<'phase' | 'stage' | 'result' | 'errorMessage', string>[] = JSON.parse(
      readFileSync(path, 'utf8'),
    );
    return record.map(({ phase, stage, result, errorMessage }) =>
      [phase, stage, result, errorMessage].filter(Boolean).join(' '),
    );
  }

  async story(): Promise<string[]> {
    return (await this.journal()).entries.map(({ step, event }) => `${step} ${event}`);
  }
}
