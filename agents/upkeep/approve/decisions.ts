import type { Decision } from '../../../lib/cluster/csr/decision.ts';
import { type Sample, sample } from '../../../lib/engine/metrics/metrics.ts';
import { sha256 } from '../../../lib/host/files.ts';

/** The decisions of one run: each is logged once, and what was left is counted. */
export class Decisions {
  /** Digests: it may run for days. */
  readonly #known = new Set<string>();
  /** By request that was left: the rule that it violates. */
  readonly #left = new Map<string, string>();

  /** Whether it is new. */
  add(decision: Decision): boolean {
    const { request, judgement } = decision;
    if (judgement.verdict === 'leave') this.#left.set(request, judgement.rule);
    else this.#left.delete(request);
    const digest = sha256(JSON.stringify(decision));
    const isNew = !this.#known.has(digest);
    this.#known.add(digest);
    return isNew;
  }

  metrics(): Sample[] {
    const rules = [...this.#left.values()];
    return [...new Set(rules)]
      .sort()
      .map((rule) =>
        sample('sno_signing_requests_left', { rule }, rules.filter((each) => each === rule).length),
      );
  }
}
