import { createServer } from 'node:http';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { familyOf } from '../../lib/base/network/address.ts';
import { quickly } from '../host/command.ts';
import { teardownSignal } from '../host/mount.ts';
import { BRIDGE } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import type { RunningCheck } from './check.ts';
import { inClient } from './services.ts';

/** Of most clouds. The lab's end of the network has it as long as the check runs. */
const ADDRESS = '169.254.169.254';
const USER_DATA = 'user data of this host';
const url = `http://${ADDRESS}/latest/user-data`;
/** At the same address, some clouds have their name server. */
const DNS_PORT = 53;
const dnsUrl = `http://${ADDRESS}:${DNS_PORT}/`;

/** With the client pod of the check of Services. */
export const metadataFromPods: RunningCheck = {
  name: 'the host reaches the metadata service of a cloud, its pods only the name server there',
  run: async ({ host, ...cluster }, signal) => {
    if (!host.identity.addresses.some((address) => familyOf(address) === 'IPv4')) return;
    const on = [`${ADDRESS}/32`, 'dev', host.identity.bridge ?? BRIDGE];
    await quickly('ip', ['address', 'add', ...on], signal);
    const servers = [80, DNS_PORT].map((port) => ({
      ...{ port, server: createServer((_, response) => response.end(USER_DATA)) },
    }));
    try {
      for (const { port, server } of servers) {
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject).listen(port, ADDRESS, resolve);
        });
      }
      const answer = await onHost(host, ['curl', '--silent', '--max-time', '10', url], signal);
      if (answer !== USER_DATA)
        throw new Failure('fatal', 'the host is refused', { found: answer });
      const ask = (from: string) =>
        inClient({ host, ...cluster }, ['wget', '-q', '-O-', from], signal).catch(describeError);
      const found = await ask(url);
      if (!/refused/i.test(found)) {
        throw new Failure('fatal', 'a pod asks the metadata service', {
          expected: 'connection refused',
          found,
        });
      }
      const resolved = await ask(dnsUrl);
      if (resolved === USER_DATA) return;
      throw new Failure('fatal', 'a pod is kept from the name server of a cloud', {
        expected: `an answer at port ${DNS_PORT}`,
        found: resolved,
      });
    } finally {
      for (const { server } of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await quickly('ip', ['address', 'delete', ...on], teardownSignal());
    }
  },
};
