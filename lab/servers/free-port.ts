import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** `end` is not part of it. */
interface PortRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Below the range from which Linux takes the ports of outgoing connections (`net.ipv4.ip_local_port_range`: 32768 up):
 * a port of that range that is free now can belong to somebody's connection, or to another test's etcd, when the server
 * that it is meant for starts. Also below the node ports of Kubernetes.
 */
const RANGE: PortRange = { first: 20_000, end: 30_000 };
const TRIES = 100;

/**
 * A port at which nothing listens, at any address. Until this process ends, no process of this machine gets it again: the
 * server that it is meant for may start much later.
 */
export async function freePort({ first, end } = RANGE): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(first, end);
    if ((await claim(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port from ${first} to ${end - 1} in ${TRIES} tries`);
}

/**
 * Whether the port belongs to this process now. The claim is an abstract socket: one process can have it, and the kernel
 * releases it with that process.
 */
async function claim(port: number): Promise<boolean> {
  const held = await listening({ path: `\0sno-agents-port-${port}` });
  held?.unref();
  return held !== undefined;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening({ port });
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
}

async function listening(at: { path: string } | { port: number }): Promise<Server | undefined> {
  const server = createServer().listen(at);
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
