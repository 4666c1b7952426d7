/** What keeps a value from being valid, in the words of an error message. */
export interface Problem {
  expected: string;
  /** Absent: the value itself may be shown. Never has a character of a secret. */
  found?: string;
  /** One imperative sentence, or a question such as "Did you mean x?". */
  fix: string;
}
