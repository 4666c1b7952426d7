import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of heap and buffers together: what may come to what was in use, before what is not is cleared away. */
const GARBAGE_BYTES = 8 * 2 ** 20;
const LOOK_MS = 25;

/** A fifth more processor time for a fifth less memory. */
const SMALL_MEMORY = [
  '--semi-space-growth-factor=1',
  '--optimize-for-size',
  '--single-threaded-gc',
] as const;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

let usedBytes = memoryBytes();

function memoryBytes(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}

/** Clears away what is not in use any more, if that can be much. */
export function collectGarbage(): void {
  if (memoryBytes() < usedBytes + GARBAGE_BYTES || typeof collect !== 'function') return;
  collect();
  usedBytes = memoryBytes();
}

/**
 * A stream makes much garbage and keeps nothing: left alone, V8 lets its heap and the buffers
 * that hang on it grow to hundreds of megabytes before it looks. Until disposed of, it is made
 * to look sooner, and the process is kept alive: deadlines do not, and with nothing but a
 * hanging source it would just end.
 */
export function keepMemorySmall(): Disposable {
  for (const flag of SMALL_MEMORY) setFlagsFromString(flag);
  const timer = setInterval(collectGarbage, LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
