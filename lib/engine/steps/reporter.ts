import { describeError, Failure } from '../../base/errors/failure.ts';
import { failureData } from '../../base/errors/failure-data.ts';
import { productVersion } from '../../base/version.ts';
import type { HostPaths } from '../../host/paths.ts';
import { publishIssue } from '../console/publish-issue.ts';
import type { WaitingListener } from './progress.ts';
import { ServiceRecord } from './service-record.ts';
import { type AgentStatus, StatusFile } from './status.ts';
import type { Plan } from './step.ts';
import { SystemdNotifier } from './systemd-notify.ts';

/** A oneshot is "starting" until it ends: systemd must not time it out before its step. */
const STARTING_MARGIN_MS = 90_000;

/** How long the work of an agent takes. */
export interface Pace {
  /** By earlier processes, before a restart of the agent or of the host. */
  readonly beforeSeconds: number;
  /** From the beginning to the end. */
  readonly usualSeconds: number;
}

/** What else receives the state of an agent. */
export interface ReporterOptions {
  readonly pace?: Pace | undefined;
  /** Called after each change; must not throw. */
  readonly seen?: ((status: AgentStatus) => void) | undefined;
}

/** Publishes an agent's state outside the log: to systemd, the status file, the service record. */
export class Reporter implements WaitingListener {
  readonly #status: StatusFile;
  readonly #record: ServiceRecord;
  readonly #notifier = new SystemdNotifier();
  readonly #options: ReporterOptions;
  readonly #began = performance.now();
  #now: AgentStatus;
  /** The last wait that was logged. */
  #announced: string | undefined;
  /** The stage that was begun in the service record and not ended: readers expect pairs. */
  #openStage: string | undefined;

  constructor(
    plan: Pick<Plan<unknown>, 'agent' | 'unit'>,
    paths: HostPaths,
    options: ReporterOptions = {},
  ) {
    this.#options = options;
    this.#status = new StatusFile(statusPath(paths, plan.agent), () => publishIssue(paths));
    this.#record = new ServiceRecord(`${paths.serviceRecords}/${plan.unit}.json`);
    this.#now = {
      schemaVersion: 1,
      version: productVersion,
      agent: plan.agent,
      unit: plan.unit,
      state: 'running',
      updated: now(),
    };
  }

  /** The step that was last started. */
  get step(): string | undefined {
    return this.#now.step?.name;
  }

  async agentBegins(): Promise<void> {
    this.#notifier.startWatchdog();
    // Before READY: units that start after this agent must not read the result of the last run.
    this.#publish({});
    await this.#status.flush();
    await Promise.all([this.#notifier.ready(), this.#record.serviceStart()]);
  }

  stepBegins(name: string, number: number, of: number, deadlineMs: number): void {
    // The check whether the step is already done counts too: it may read gigabytes.
    void this.#notifier.extendTimeout(deadlineMs + STARTING_MARGIN_MS);
    const since = now();
    this.#announced = undefined;
    this.#publish({ step: { name, number, of, attempt: 0, since, until: later(deadlineMs) } });
  }

  async attemptBegins(name: string, attempt: number, leftMs: number): Promise<void> {
    if (this.#now.step !== undefined) {
      this.#publish({ step: { ...this.#now.step, attempt, until: later(leftMs) } });
    }
    await this.#notifier.extendTimeout(leftMs + STARTING_MARGIN_MS);
    if (this.#openStage === name) return;
    this.#openStage = name;
    await this.#record.stageStart(name);
  }

  async stepEnds(name: string, failure?: Failure): Promise<void> {
    this.#openStage = undefined;
    await this.#record.stageEnd(name, failure);
  }

  waiting(description: string | undefined): boolean {
    if (this.#now.step === undefined) return false;
    const { waitingFor: _before, ...step } = this.#now.step;
    this.#publish({
      step: description === undefined ? step : { ...step, waitingFor: description },
    });
    const isNews = description !== undefined && description !== this.#announced;
    if (isNews) this.#announced = description;
    return isNews;
  }

  trouble(sentence: string | undefined): void {
    if (this.#now.step === undefined) return;
    const { trouble: _before, ...step } = this.#now.step;
    this.#publish({ step: sentence === undefined ? step : { ...step, trouble: sentence } });
  }

  async agentEnds(
    state: Exclude<AgentStatus['state'], 'running'>,
    exitCode: number,
    why?: Failure | string,
  ): Promise<void> {
    const failure = why instanceof Failure ? why : undefined;
    const reason = failure === undefined ? why : describeError(failure);
    this.#publish({
      state,
      exitCode,
      reason: typeof reason === 'string' ? reason : undefined,
      failure: failure === undefined ? undefined : failureData(failure),
    });
    const stopped = new Failure('retry', typeof reason === 'string' ? reason : state);
    if (this.#openStage !== undefined) await this.stepEnds(this.#openStage, failure ?? stopped);
    await this.#record.serviceEnd(state === 'stopped' ? stopped : failure);
    await this.#status.flush();
    await this.#notifier.stop();
  }

  #pace(): Pick<AgentStatus, 'pace'> {
    const { pace } = this.#options;
    if (pace === undefined) return {};
    const seconds = Math.round((performance.now() - this.#began) / 1000);
    const { beforeSeconds, usualSeconds } = pace;
    return { pace: { elapsedSeconds: beforeSeconds + seconds, usualSeconds } };
  }

  #publish(change: Partial<AgentStatus>): void {
    this.#now = { ...this.#now, ...change, ...this.#pace(), updated: now() };
    this.#status.publish(this.#now);
    this.#options.seen?.(this.#now);
    const { step, state, reason } = this.#now;
    // The last plan deletes its own unit: systemd could no longer attribute the message.
    if (state === 'done') return;
    if (state !== 'running') {
      this.#notifier.status(reason === undefined ? state : `${state}: ${reason}`);
      return;
    }
    if (step === undefined) return;
    const wait = step.waitingFor === undefined ? '' : `: waiting for ${step.waitingFor}`;
    const trouble = step.trouble === undefined ? '' : `: ${step.trouble}`;
    this.#notifier.status(`step ${step.number} of ${step.of}, ${step.name}${wait}${trouble}`);
  }
}

export function statusPath(paths: HostPaths, agent: string): string {
  return `${paths.run}/${agent}/status.json`;
}

const now = () => new Date().toISOString();
const later = (ms: number) => new Date(Date.now() + Math.max(0, ms)).toISOString();
