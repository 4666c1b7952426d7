/** One reason why a host is not steady. */
export interface SteadyFinding {
  /** `moving`: it changes, or has to; `unknown`: nothing of this boot shows its state. */
  readonly kind: 'moving' | 'unknown';
  /** Kind and name, such as `Deployment kube-system/coredns`. */
  readonly object: string;
  readonly what: string;
  /** Who changes it, where that is known. */
  readonly by?: string | undefined;
}

/** Name to value; an absent value is a value too. */
export type Fact = readonly [name: string, value: string | undefined];

/** What a part of the cluster shows: `facts` must not change while the host settles. */
export interface SteadyJudgement {
  readonly findings: readonly SteadyFinding[];
  readonly facts: readonly Fact[];
}

/** What judges one part by the others. */
export interface Around {
  readonly now: Date;
  readonly bootTime: Date;
  /** Whether a pod of this namespace has been running on this host since this boot. */
  runsSinceBoot(namespace: string): boolean;
}

export const moving = (object: string, what: string, by?: string): SteadyFinding => ({
  kind: 'moving',
  object,
  what,
  ...(by === undefined ? {} : { by }),
});

export const unknown = (object: string, what: string): SteadyFinding => ({
  kind: 'unknown',
  object,
  what,
});

export const findingText = ({ object, what, by }: SteadyFinding): string =>
  `${object} ${what}${by === undefined ? '' : ` (${by})`}`;
