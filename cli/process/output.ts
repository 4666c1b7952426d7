import { systemErrorText } from '../../lib/base/errors/system-error.ts';
import { printableLines } from '../../lib/base/printable.ts';
import { Stopped } from './stopped.ts';

/** Standard output or error of this process, or a similar stream. */
export type Sink = Pick<NodeJS.WriteStream, 'write' | 'on'>;

/**
 * Standard output and standard error whose failures end the command instead of the
 * process: a closed pipe silently, anything else (a full device) with one line.
 */
export class Output {
  readonly #out: Sink;
  readonly #err: Sink;
  #fault: string | undefined;

  /** `stop` is called once, with the reason, if standard output fails. */
  constructor(out: Sink, err: Sink, stop: (reason: Stopped) => void) {
    this.#out = out;
    this.#err = err;
    let failed = false;
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (failed) return;
      failed = true;
      if (error.code === 'EPIPE') return stop(Stopped.byClosedPipe());
      this.#fault = `standard output cannot be written: ${systemErrorText(error)}`;
      stop(Stopped.byOutput(this.#fault));
    });
    // There is nowhere left to report it.
    err.on('error', () => undefined);
  }

  readonly print = (line: string): void => void this.#out.write(`${printableLines(line)}\n`);
  readonly complain = (text: string): void => void this.#err.write(`${printableLines(text)}\n`);

  /**
   * Why the output is incomplete, once everything was written; undefined if it is
   * complete or has no reader.
   */
  async fault(): Promise<string | undefined> {
    await new Promise<void>((resolve) => this.#out.write('', () => resolve()));
    // The stream reports an error after the write's callback.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return this.#fault;
  }
}
