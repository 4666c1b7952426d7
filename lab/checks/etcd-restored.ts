import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { patient } from '../patience.ts';
import type { ClusterCheck } from './check.ts';

const ON_HOST = '/run/etcdctl';
const COMPACTED = 'required revision has been compacted';
const PKI = '/etc/kubernetes/pki';

const answerSchema = z
  .array(
    z.object({ HashKV: z.object({ hash: z.number(), compact_revision: z.number().optional() }) }),
  )
  .length(1);

/** Requested from the running etcd with etcd's own client: the hash of the history up to the snapshot. */
export const etcdRestored: ClusterCheck = {
  name: "etcd's hash at the snapshot's revision is the live stage's",
  run: async ({ host, etcd, carried: { snapshot } }, signal) => {
    // In memory: nothing of the lab stays on the disk.
    await copyFile(join(etcd, 'etcdctl'), join(host.ownView, ON_HOST));
    const { stdout, stderr } = await host.exec(
      [
        ...[ON_HOST, '--endpoints=https://127.0.0.1:2379'],
        `--dial-timeout=${patient(2)}s`,
        `--command-timeout=${patient(5)}s`,
        `--cacert=${PKI}/etcd/ca.crt`,
        `--cert=${PKI}/kube-apiserver/etcd-client.crt`,
        `--key=${PKI}/kube-apiserver/etcd-client.key`,
        ...['endpoint', 'hashkv', `--rev=${snapshot.revision}`, '--write-out=json'],
      ],
      { timeoutMs: 30_000 },
      signal,
    );
    // The API server compacts the history after ten minutes, which a slow host needs until it is here.
    if (patient(1) > 1 && stderr.includes(COMPACTED)) return;
    // `null`: no endpoint has answered.
    if (stdout === '' || stdout === 'null') {
      throw new Failure('fatal', 'etcd does not answer', { found: stderr });
    }
    const [answer] = answerSchema.parse(JSON.parse(stdout));
    const found = { hash: answer?.HashKV.hash, compacted: answer?.HashKV.compact_revision };
    const expected = { hash: snapshot.hash, compacted: snapshot.compactRevision };
    if (found.hash === expected.hash) return;
    throw new Failure('fatal', 'the restored history differs from the snapshot', {
      expected: JSON.stringify(expected),
      found: JSON.stringify(found),
    });
  },
};
