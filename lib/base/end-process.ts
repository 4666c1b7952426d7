import { setTimeout as sleep } from 'node:timers/promises';

/** What a reader has to take the rest: a journal that hangs must not hold up the boot. */
const FLUSH_MS = 60_000;

/** A reader that has gone, as that of `| head`, is no fault of the program. Called before the first output. */
export function tolerateClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/**
 * Ends the process with an exit code once its output is taken. A pipe and a socket of the journal hold some 64 KiB; Node keeps
 * the rest in memory, where `process.exit` would lose it.
 */
export async function endProcess(code: number): Promise<never> {
  const flushed = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  );
  // What is not written yet keeps the process alive; nothing else has to.
  await Promise.race([Promise.all(flushed), sleep(FLUSH_MS, undefined, { ref: false })]);
  process.exit(code);
}
