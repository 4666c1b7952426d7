/** Takes one snapshot like bootkube, then exits: `take ENDPOINT CA CERTIFICATE KEY TARGET`. */
import { readFileSync } from 'node:fs';
import { connectEtcd } from '../../lib/clients/etcd/client.ts';
import { takeSnapshot } from '../../lib/clients/etcd/snapshot.ts';

const DEADLINE_MS = 300_000;

async function take([endpoint = '', ca = '', cert = '', key = '', target = '']: readonly string[]) {
  using client = connectEtcd(endpoint, {
    ca: readFileSync(ca),
    cert: readFileSync(cert),
    key: readFileSync(key),
  });
  const signal = AbortSignal.timeout(DEADLINE_MS);
  await takeSnapshot(client, target, { signal, deadlineMs: DEADLINE_MS });
}

take(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
