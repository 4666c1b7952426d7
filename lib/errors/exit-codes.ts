import { asFailure } from './unexpected.ts';

/**
 * Exit codes that units and scripts rely on. The units say
 * `RestartPreventExitStatus=2 3 4`: only 1 is worth another start by itself.
 */
export const EXIT = { done: 0, retryable: 1, usage: 2, deadline: 3, fatal: 4 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code for whatever was thrown. An unknown error is retryable, a programming error is not. */
export function exitCodeFor(error: unknown): ExitCode {
  switch (asFailure(error).kind) {
    case 'retry':
      return EXIT.retryable;
    case 'usage':
      return EXIT.usage;
    case 'deadline':
      return EXIT.deadline;
    case 'fatal':
    case 'bug':
      return EXIT.fatal;
  }
}
