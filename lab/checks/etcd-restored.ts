import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import type { ClusterCheck } from './check.ts';

const answerSchema = z
  .array(
    z.object({ HashKV: z.object({ hash: z.number(), compact_revision: z.number().optional() }) }),
  )
  .length(1);

/** Requested from the running etcd with etcd's own client: the hash of the history up to the snapshot. */
export const etcdRestored: ClusterCheck = {
  name: "etcd's hash at the snapshot's revision is the live stage's",
  run: async ({ host, etcd, carried: { snapshot } }, signal) => {
    const pki = join(host.rootDir, 'etc/kubernetes/pki');
    const text = await run(
      'nsenter',
      [
        ...['-t', `${host.leader}`, '--net', '--', join(etcd, 'etcdctl')],
        '--endpoints=https://127.0.0.1:2379',
        `--cacert=${pki}/etcd/ca.crt`,
        `--cert=${pki}/kube-apiserver/etcd-client.crt`,
        `--key=${pki}/kube-apiserver/etcd-client.key`,
        ...['endpoint', 'hashkv', `--rev=${snapshot.revision}`, '--write-out=json'],
      ],
      { signal, deadlineMs: 30_000 },
    );
    const [answer] = answerSchema.parse(JSON.parse(text));
    const found = { hash: answer?.HashKV.hash, compacted: answer?.HashKV.compact_revision };
    const expected = { hash: snapshot.hash, compacted: snapshot.compactRevision };
    if (found.hash === expected.hash) return;
    throw new Failure('fatal', 'the restored history differs from the snapshot', {
      expected: JSON.stringify(expected),
      found: JSON.stringify(found),
    });
  },
};
