import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { SITE } from '../host/network.ts';
import { HUB_SERVER } from './way-to-hub.ts';

const ASK_MS = 120_000;

const reportTo = z.object({
  hub: z.object({
    server: z.string(),
    certificateAuthority: z.string(),
    certificate: z.string(),
    key: z.string(),
  }),
});

/** @throws Failure (fatal) if the key with which a node reports reads anything on the hub */
export async function requireNoMoreRights(
  rootDir: string,
  folder: string,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<void> {
  const text = await readFile(join(rootDir, 'etc/sno-agents/report-to.json'), 'utf8');
  const { hub } = reportTo.parse(JSON.parse(text));
  const file = async (name: string, contents: string) => {
    await writeFile(join(folder, name), contents, { mode: 0o600 });
    return join(folder, name);
  };
  const as = [
    ...['--cacert', await file('node-ca.pem', hub.certificateAuthority)],
    ...['--cert', await file('node.pem', hub.certificate)],
    ...['--key', await file('node-key.pem', hub.key)],
  ];
  const { hostname, port } = new URL(HUB_SERVER);
  // The lab asks no name server of the site.
  as.push('--resolve', `${hostname}:${port}:${SITE.segments.IPv4.bridge}`);
  for (const url of [
    `${hub.server}/apis/fleet.sno-agents.io/v1alpha1/namespaces/${namespace}/sites`,
    `${hub.server}/api/v1/namespaces/${namespace}/secrets`,
  ]) {
    const ask = ['--silent', '--output', '/dev/null', '--write-out', '%{http_code}', ...as, url];
    const code = await run('curl', ask, { signal, deadlineMs: ASK_MS });
    if (code !== '403') throw new Failure('fatal', `the node reads ${url}`, { found: code });
  }
}
