import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which Linux takes the ports of outgoing connections (`net.ipv4.ip_local_port_range`: 32768 up):
 * a port of that range that is free now can belong to somebody's connection, or to another test's etcd, when the server
 * that it is meant for starts. Also below the node ports of Kubernetes.
 */
const RANGE = { first: 20_000, end: 30_000 } as const;
const TRIES = 100;

const given = new Set<number>();

/** A port at which nothing listens, at any address; each call returns another one. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(RANGE.first, RANGE.end);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${RANGE.first} to ${RANGE.end - 1} in ${TRIES} tries`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
