import type { Verdict } from './programs.ts';

/** Why one of the two programs refuses what the other accepts. */
export interface Difference {
  readonly refusedBy: 'sno' | 'openshift-install';
  /** Matches the whole fault, as that program reports it. */
  readonly fault: RegExp;
  /** A sentence without a full stop. */
  readonly reason: string;
}

export interface Verdicts {
  readonly name: string;
  readonly sno: Verdict;
  readonly installer: Verdict;
}

export interface Comparison {
  /** Names of install-configs that both accept, and that both refuse. */
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
  /** The other verdicts that the reasons explain, with these reasons. */
  readonly explained: readonly { readonly name: string; readonly reasons: readonly string[] }[];
  /** One line for each fault that no reason explains. */
  readonly unexplained: readonly string[];
  /** Reasons that explain nothing. */
  readonly stale: readonly Difference[];
}

/**
 * Compares the verdicts. A difference is explained if each fault of the program that refuses has a
 * reason: were it removed, the other reasons would have to explain the rest.
 */
export function compareVerdicts(
  verdicts: readonly Verdicts[],
  differences: readonly Difference[],
): Comparison {
  const used = new Set<Difference>();
  const explained: { name: string; reasons: string[] }[] = [];
  const unexplained: string[] = [];
  const agreed = { accepted: [] as string[], refused: [] as string[] };
  for (const { name, sno, installer } of verdicts) {
    if (sno.isAccepted === installer.isAccepted) {
      (sno.isAccepted ? agreed.accepted : agreed.refused).push(name);
      continue;
    }
    const refusedBy = sno.isAccepted ? 'openshift-install' : 'sno';
    const { faults } = sno.isAccepted ? installer : sno;
    const reasons = new Set<string>();
    const left = faults.filter((fault) => {
      const why = differences.find(
        (each) => each.refusedBy === refusedBy && each.fault.test(fault),
      );
      if (why === undefined) return true;
      used.add(why);
      reasons.add(why.reason);
      return false;
    });
    if (faults.length === 0) left.push('(no message)');
    if (left.length === 0) explained.push({ name, reasons: [...reasons] });
    unexplained.push(...left.map((fault) => `${name}: only ${refusedBy} refuses: ${fault}`));
  }
  const stale = differences.filter((each) => !used.has(each));
  return { ...agreed, explained, unexplained, stale };
}
