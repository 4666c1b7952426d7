import { asFailure } from './unexpected.ts';

/**
 * Exit codes that units and scripts rely on. The units set
 * `RestartPreventExitStatus=2 3 4`: only exit code 1 is restarted automatically. Two go on after 3 as well
 * (units/installed), since their host may be without a control plane.
 */
export const EXIT = { done: 0, retryable: 1, usage: 2, deadline: 3, fatal: 4 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code for any thrown value. Unknown errors are retryable, programming errors are not. */
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
