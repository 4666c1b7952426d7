import { createWriteStream } from 'node:fs';
import { execa } from 'execa';

/** A server in the background. */
export interface Daemon {
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** Starts a server that logs to `log` and ends by itself after `lifetimeMs`. */
export function startDaemon(
  program: string,
  args: readonly string[],
  log: string,
  lifetimeMs: number,
): Daemon {
  const running = execa(program, [...args], {
    reject: false,
    stdin: 'ignore',
    buffer: false,
    all: true,
    timeout: lifetimeMs,
    forceKillAfterDelay: 5000,
  });
  running.all.pipe(createWriteStream(log, { flags: 'a' }));
  let isRunning = true;
  void running.finally(() => {
    isRunning = false;
  });
  return {
    isRunning: () => isRunning,
    async stop() {
      running.kill('SIGTERM');
      await running;
    },
  };
}
