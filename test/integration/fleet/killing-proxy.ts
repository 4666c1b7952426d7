/** An API server in front of another one, which kills its client after the n-th write. */

import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { tokenKubeconfig } from '../../../lib/pki/kubeconfig.ts';
import type { TestHub } from './hub.ts';

const MAIN = join(import.meta.dirname, '../../../cli/main.ts');
const RUN_MS = 60_000;

export type KillingProxy = Awaited<ReturnType<typeof startKillingProxy>>;

export async function startKillingProxy({ plane, root }: TestHub) {
  const administrator = await plane.access({ name: 'proxied', groups: ['system:masters'] });
  const own = await issueLeaf(plane.authority, {
    subject: { commonName: 'localhost' },
    usage: 'both',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  let left = 0;
  let kill = () => {};
  const server = createServer({ cert: own.certificate, key: own.key }, (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const { authorization: _token, host: _host, ...rest } = headers;
    const forwarded = request(
      new URL(url, plane.server),
      {
        method,
        headers: rest,
        ca: administrator.ca,
        cert: administrator.certificate,
        key: administrator.key,
      },
      (answer) => {
        if (method !== 'GET') left -= 1;
        if (method !== 'GET' && left === 0) {
          // The server has done it, and the client does not learn that.
          kill();
          outgoing.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = isAddress(address) ? address.port : 0;
  const kubeconfig = join(root, 'proxied');
  const authority = join(root, 'proxied.ca');
  writeFileSync(authority, administrator.ca);
  const access = { server: `https://127.0.0.1:${port}`, cluster: 'proxied', user: 'proxied' };
  writeFileSync(kubeconfig, tokenKubeconfig(access, { authority, token: 'any' }), { mode: 0o600 });
  return {
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
    /** Runs `sno` until its n-th write; undefined if it was killed, else its exit code. */
    async run(args: readonly string[], writes: number): Promise<number | undefined> {
      left = writes;
      const program = execa(process.execPath, [MAIN, ...args, '--kubeconfig', kubeconfig], {
        reject: false,
        timeout: RUN_MS,
      });
      kill = () => void program.kill('SIGKILL');
      const { signal, exitCode } = await program;
      return signal === 'SIGKILL' ? undefined : exitCode;
    },
  };
}

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === 'object' && address !== null;
