/** What of it a test or a document can do without. */
export type OutsideSno = Omit<Surroundings, 'answers'> & Partial<Pick<Surroundings, 'answers'>>;

/** A command's interface to its process. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line for the user. */
  print(line: string): void;
  /** Prints an error or progress, apart from the command's own output. */
  complain(text: string): void;
  /** The lines that the user types; read as far as they are asked for. */
  answers(): AsyncIterable<string>;
  /** Aborted when the user or the system stops the program. */
  signal: AbortSignal;
  /** Width of the terminal, if there is one. */
  columns?: number;
}
