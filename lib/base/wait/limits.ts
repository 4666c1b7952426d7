/** How long a call or an operation may take, and what ends it early. */
export interface Limits {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** Limits for something that waits for others, and where it reports. */
export interface Wait extends Limits {
  /** Called with what is waited for or still missing, whenever that changes. */
  readonly report: (state: string) => void;
}
