import { constants } from 'node:os';

/** Signals that end `sno` in an orderly way: Ctrl-C, `kill`, a closed terminal. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** Why a command ended before its work was done: the reason of the abort signal. */
export class Stopped extends Error {
  readonly exitCode: number;
  /** Nobody reads what would be printed. */
  readonly quiet: boolean;

  private constructor(message: string, exitCode: number, quiet: boolean) {
    super(message);
    this.name = 'Stopped';
    this.exitCode = exitCode;
    this.quiet = quiet;
  }

  /** The exit code is that of a shell for a program killed by the signal. */
  static bySignal(signal: StopSignal): Stopped {
    return new Stopped(`was stopped by ${signal}`, 128 + constants.signals[signal], false);
  }

  /** `sno ... | head`: the reader of the output has exited. As if SIGPIPE had not been ignored. */
  static byClosedPipe(): Stopped {
    return new Stopped('was stopped: its output was closed', 128 + constants.signals.SIGPIPE, true);
  }

  static byOutput(fault: string): Stopped {
    return new Stopped(`was stopped: ${fault}`, 1, false);
  }
}
