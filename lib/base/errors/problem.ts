/** Why a value is invalid, in the words of an error message. */
export interface Problem {
  expected: string;
  /** If absent, the value itself may be shown. Never contains any part of a secret. */
  found?: string;
  /** One imperative sentence, or a question such as "Did you mean x?". */
  fix: string;
}
