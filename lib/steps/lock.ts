import { createServer, type Server } from 'node:net';
import { Failure } from './failure.ts';
import { fingerprint } from './fingerprint.ts';

/**
 * One run of an agent at a time. The lock is an abstract stream socket: the kernel
 * frees it with the process, however that ends, and nothing is left on the disk.
 */
export async function lockAgent(agent: string, root: string): Promise<Disposable> {
  const scope = root === '/' ? '' : `-${fingerprint(root)}`;
  const server = createServer((socket) => socket.destroy());
  await listen(server, `\0sno-agents/${agent}${scope}`, agent);
  server.unref();
  return { [Symbol.dispose]: () => void server.close() };
}

function listen(server: Server, path: string, agent: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        'code' in error && error.code === 'EADDRINUSE'
          ? new Failure('usage', `${agent} is already running on this host`, {
              fix: `Follow it with "${agent} status", or stop its unit before you run it by hand.`,
            })
          : error,
      ),
    );
    server.listen({ path }, resolve);
  });
}
