import { REQUIRED_SCORE } from './groups.ts';
import type { GroupResult, Verdict } from './judge-group.ts';
import type { MutantName } from './mutant.ts';
import { isSame, type Survivor } from './survivors.ts';

export interface Score {
  readonly group: string;
  readonly killed: number;
  readonly timeouts: number;
  /** Survivors without an explanation in test/mutation/survivors.json. */
  readonly unexplained: readonly Verdict[];
  readonly explained: number;
  /** Refused by the type checker: not counted. */
  readonly invalid: number;
  /** Share of detected mutants among the detectable ones: 0 to 1. */
  readonly score: number;
  /** Why the group fails; empty if it passes. */
  readonly faults: readonly string[];
}

/** Mutants explained in `survivors` are not counted; each of them must still survive. */
export function scoreOf(
  { group, names, verdicts, broken }: GroupResult,
  survivors: readonly Survivor[],
  belongs: (name: MutantName) => boolean,
): Score {
  const isExplained = (name: MutantName) => survivors.some((it) => isSame(it, name));
  const noticed = verdicts.filter(({ fate }) => fate === 'killed' || fate === 'timeout');
  const missed = verdicts.filter(({ fate }) => fate === 'survived' || fate === 'uncovered');
  const unexplained = missed.filter((verdict) => !isExplained(verdict));
  const asked = noticed.length + unexplained.length;
  const score = asked === 0 ? 1 : noticed.length / asked;
  const percent = (part: number) => `${(100 * part).toFixed(1)} %`;
  const faults = [
    ...broken.map(({ file, output }) => `${file} without a mutation: ${output}`),
    ...(score < REQUIRED_SCORE
      ? [`${percent(score)} noticed, below ${percent(REQUIRED_SCORE)}`]
      : []),
    ...survivors
      .filter((it) => belongs(it) && !names.some((name) => isSame(it, name)))
      .map((it) => `survivors.json: no such mutant in ${it.file}: ${it.before} => ${it.after}`),
    ...noticed
      .filter(isExplained)
      .map((it) => `survivors.json: noticed now in ${it.file}: ${it.before} => ${it.after}`),
  ];
  return {
    group,
    killed: noticed.filter(({ fate }) => fate === 'killed').length,
    timeouts: noticed.filter(({ fate }) => fate === 'timeout').length,
    unexplained,
    explained: missed.length - unexplained.length,
    invalid: verdicts.filter(({ fate }) => fate === 'invalid').length,
    score,
    faults,
  };
}
