import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from './errors/system-error-code.ts';

/** What a reader has to take the rest: a journal that hangs must not hold up the boot. */
const FLUSH_MS = 20_000;
const EXIT_INCOMPLETE = 1;

let isIncomplete = false;

/**
 * Called before the first output. A reader that has gone, as that of `| head`, is no fault of the program; output that
 * cannot be written, as to a full disk, changes its exit code.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (systemErrorCode(error) !== 'EPIPE') isIncomplete = true;
    });
  }
}

/**
 * Ends the process with an exit code once its output is taken. A pipe and a socket of the journal hold some 64 KiB; Node keeps
 * the rest in memory, where `process.exit` would lose it.
 */
export async function endProcess(code: number): Promise<never> {
  const flushed = [process.stdout, process.stderr].map(taken);
  // What is not written yet keeps the process alive; nothing else has to.
  await Promise.race([Promise.all(flushed), sleep(FLUSH_MS, undefined, { ref: false })]);
  // A stream reports an error after the callback of the write.
  await new Promise<void>((resolve) => setImmediate(resolve));
  process.exit(code === 0 && isIncomplete ? EXIT_INCOMPLETE : code);
}

/** Also of a stream that a pipeline has ended: nothing can be written behind its last byte. */
function taken(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableFinished) return resolve();
    if (stream.writableEnded) stream.once('finish', () => resolve());
    else stream.write('', () => resolve());
  });
}
