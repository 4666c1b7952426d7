import { connect, createServer, type Server } from 'node:net';
import { Failure } from '../../base/errors/failure.ts';
import { systemErrorCode } from '../../base/errors/system-error-code.ts';
import { fingerprint } from './fingerprint.ts';

/**
 * Ensures one run of an agent at a time. The lock is an abstract stream socket: the
 * kernel releases it with the process, however that ends, and nothing is left on
 * the disk.
 */
export async function lockAgent(agent: string, root: string): Promise<Disposable> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, lockName(agent, root), agent);
  server.unref();
  return { [Symbol.dispose]: () => void server.close() };
}

/** Whether a process holds the lock now. Does not prevent others from taking it. */
export function isLocked(agent: string, root: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: lockName(agent, root) });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function lockName(agent: string, root: string): string {
  const scope = root === '/' ? '' : `-${fingerprint(root)}`;
  return `\0sno-agents/${agent}${scope}`;
}

function listen(server: Server, path: string, agent: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        systemErrorCode(error) === 'EADDRINUSE'
          ? new Failure('usage', `${agent} is already running on this host`, {
              code: 'already-running',
              fix: `Follow it with "/var/lib/sno-agents/bin/${agent} status", or stop its unit before you run it manually.`,
            })
          : error,
      ),
    );
    server.listen({ path }, resolve);
  });
}
