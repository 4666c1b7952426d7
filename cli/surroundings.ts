/** A command's interface to its process. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line for the user. */
  print(line: string): void;
  /** Prints an error or progress, apart from the command's own output. */
  complain(text: string): void;
  /** Aborted when the user or the system stops the program. */
  signal: AbortSignal;
  /** Width of the terminal, if there is one. */
  columns?: number;
}
