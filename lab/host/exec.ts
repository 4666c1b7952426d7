/** How a host has ended. */
export type Exit = 'reboot' | 'poweroff' | 'killed';

export interface ExecOptions {
  readonly timeoutMs: number;
  readonly input?: string;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Exit code of `timeout --signal=KILL`. */
export const KILLED_BY_TIMEOUT = 137;

/** Of a program that the lab runs on a host, for env(1). */
export const ENVIRONMENT: readonly string[] = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'LANG=C.UTF-8',
  'TERM=xterm',
];

/** What is awaited. Rejects if `signal` aborts first. */
export async function unlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([awaited, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
