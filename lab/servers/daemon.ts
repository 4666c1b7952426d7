import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
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

/** An unused port on loopback. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
