/** How long a call or an operation may take, and what ends it early. */
export interface Limits {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** Something that waits for others, and says what for. */
export interface Wait extends Limits {
  /** Called with what is waited for, or with what is still missing, whenever that changes. */
  readonly report: (state: string) => void;
}
