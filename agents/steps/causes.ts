import { setInterval } from 'node:timers/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Limits } from '../../lib/base/wait/limits.ts';
import {
  type Exit,
  howItEnded,
  RepeatedExits,
  sameExit,
} from '../../lib/base/wait/repeated-exits.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { unitExit } from '../../lib/host/systemd.ts';
import { containerExits } from './container-exits.ts';
import { sandboxTrouble } from './pod-sandboxes.ts';

/** What has to run before a wait can end: units of systemd, and containers of static pods. Each needs those before it. */
export interface Needed {
  readonly units: readonly string[];
  readonly containers: readonly string[];
}

/** A host has one of them; the other one never has a state that counts. */
const RUNTIMES = ['containerd.service', 'crio.service'];
const KUBELET = 'kubelet.service';

export const kubeletNeeds: Needed = { units: [...RUNTIMES, KUBELET], containers: [] };
/** @param containers in the order in which one needs the other */
export const staticPodsNeed = (...containers: string[]): Needed => ({
  units: kubeletNeeds.units,
  containers,
});

const LOOK_MS = 2000;
/** The journal is read less often: on a slow host that takes a while. */
const SANDBOX_MS = 10_000;

/** Looks, while something is waited for, whether what it needs ends again and again, or cannot be started. */
export class Causes {
  readonly #paths: HostPaths;
  readonly #needed: Needed;
  readonly #progress: Progress;
  readonly #counts = new Map<string, RepeatedExits>();
  #told: Exit | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #sandboxesMs = Number.NEGATIVE_INFINITY;

  constructor(paths: HostPaths, needed: Needed, progress: Progress) {
    this.#paths = paths;
    this.#needed = needed;
    this.#progress = progress;
  }

  /**
   * Reports how the first one that does not run has ended. It alone counts: those after it may end because of it. A look that fails says
   * nothing.
   * @throws Failure (fatal) if it will end in this way for ever (lib/base/wait/repeated-exits.ts)
   */
  async look(signal: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < LOOK_MS / 2) return;
    this.#lookedMs = nowMs;
    const exit = await this.#firstExit(signal).catch(() => undefined);
    if (exit === undefined) return this.#lookAtSandboxes(signal);
    if (this.#told === undefined || !sameExit(this.#told, exit)) {
      this.#told = exit;
      this.#progress.trouble(`${exit.of} has ended ${howItEnded(exit)}`);
    }
    const count = this.#counts.get(exit.of) ?? new RepeatedExits();
    this.#counts.set(exit.of, count);
    if (count.isPermanent(exit, performance.now())) throw keepsEnding(exit, count.count);
  }

  /** They are tried again for ever: what keeps them may pass. */
  async #lookAtSandboxes(signal: AbortSignal): Promise<void> {
    const { containers } = this.#needed;
    const nowMs = performance.now();
    if (containers.length === 0 || nowMs - this.#sandboxesMs < SANDBOX_MS) return;
    this.#sandboxesMs = nowMs;
    const trouble = await sandboxTrouble(containers, signal).catch(() => undefined);
    // While something is started once more, its last exit still tells why it does not run.
    if (trouble !== undefined) this.#told = undefined;
    else if (this.#told !== undefined) return;
    this.#progress.trouble(trouble);
  }

  async #firstExit(signal: AbortSignal): Promise<Exit | undefined> {
    for (const unit of this.#needed.units) {
      const exit = await unitExit(unit, signal);
      if (exit !== undefined) return exit;
    }
    return (await containerExits(this.#paths, this.#needed.containers, signal))[0];
  }
}

const keepsEnding = (exit: Exit, count: number) =>
  new Failure('fatal', `${exit.of} ends again and again`, {
    code: 'keeps-ending',
    subject: exit.of,
    expected: 'it to run',
    found: `${count} exits in a row ${howItEnded(exit)}`,
    fix: `Correct what it names (see "${exit.see}"), then start this agent's unit again.`,
  });

/**
 * Waits as `body` does, and says meanwhile why what it needs does not run.
 * @throws Failure what `body` throws, or (fatal) as `Causes.look`
 */
export async function withCauses<T>(
  { paths }: { readonly paths: HostPaths },
  needed: Needed,
  progress: Progress,
  body: (limits: Pick<Limits, 'signal'>) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const found = new AbortController();
  const causes = new Causes(paths, needed, progress);
  const signal = AbortSignal.any([progress.signal, ended.signal]);
  const looking = (async () => {
    try {
      for await (const _ of setInterval(LOOK_MS, undefined, { signal })) await causes.look(signal);
    } catch (error) {
      if (!signal.aborted) found.abort(error);
    }
  })();
  try {
    const result = await body({ signal: AbortSignal.any([progress.signal, found.signal]) });
    progress.trouble(undefined);
    return result;
  } catch (error) {
    throw found.signal.aborted ? found.signal.reason : error;
  } finally {
    ended.abort();
    await looking;
  }
}
