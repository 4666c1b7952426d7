/** What the process gives; a test or a document can do without `answers`. */
export type OutsideSno = Omit<Surroundings, 'answers' | 'notice' | 'wrote'> &
  Partial<Pick<Surroundings, 'answers'>>;

/** A command's interface to its process. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line for the user. */
  print(line: string): void;
  /** Says that a file or folder was written; `note`: what there is to know of it, for people. */
  wrote(path: string, note?: string): void;
  /** Prints something to know, where errors and progress go: the output may be for programs. */
  notice(text: string): void;
  /** Prints an error or progress, apart from the command's own output. */
  complain(text: string): void;
  /** The lines that the user types; read as far as they are asked for. */
  answers(): AsyncIterable<string>;
  /** Aborted when the user or the system stops the program. */
  signal: AbortSignal;
  /** Width of the terminal, if there is one. */
  columns?: number;
}
