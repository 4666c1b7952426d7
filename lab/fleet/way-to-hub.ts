import { connect, createServer } from 'node:net';
import { type HostIdentity, SITE } from '../host/network.ts';
import type { Teardown } from '../host/teardown.ts';
import { DOMAIN } from '../site.ts';

const PORT = 16_443;
const { bridge: LAB } = SITE.segments.IPv4;

/**
 * The hub as the site's name server knows it. At its own address the node has itself: the hub is a copy of it, and the
 * address of its installation stays with a node.
 */
export const HUB_NAME: HostIdentity = {
  name: `api.${DOMAIN}`,
  mac: '52:54:00:00:00:fe',
  addresses: [LAB],
};

/** The address of its API for nodes. */
export const HUB_SERVER = `https://${HUB_NAME.name}:${PORT}`;

/** Passes connections on, as a load balancer before a hub does; TLS is between node and hub. */
export async function openWayTo(address: string, teardown: Teardown): Promise<void> {
  const server = createServer((from) => {
    const to = connect({ host: address, port: 6443 });
    from.pipe(to).pipe(from);
    for (const end of [from, to]) {
      end.on('error', () => undefined);
      end.on('close', () => {
        from.destroy();
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(PORT, LAB, resolve);
  });
  teardown.add('close the way to the hub', async () => void server.close());
}
