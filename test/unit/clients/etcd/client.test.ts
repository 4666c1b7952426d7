import { createServer } from 'node:net';
import { status } from '@grpc/grpc-js';
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { connectEtcd } from '../../../../lib/clients/etcd/client.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { rpcError, serveEtcd, statusAt } from './serve-etcd.ts';

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });
const header = { memberId: '7', clusterId: '8', revision: 12 };

t.test('status, members and alarms as reported by the member', async (t) => {
  const client = await serveEtcd(t, {
    Status: () => statusAt(12),
    MemberList: () => ({
      members: [
        {
          ID: '18446744073709551615',
          name: 'etcd',
          peerURLs: ['p'],
          clientURLs: ['c'],
          isLearner: true,
        },
      ],
    }),
    Alarm: () => ({ alarms: [{ memberID: '7', alarm: 'NOSPACE' }] }),
  });
  t.strictSame(await client.status(limits()), {
    version: '3.6.4',
    revision: 12,
    dbSize: 4096,
    dbSizeInUse: 2048,
    raftIndex: 30,
    raftTerm: 2,
    raftAppliedIndex: 29,
    isLearner: false,
    dbSizeQuota: 8192,
    memberId: '7',
    leader: '7',
    errors: ['alarm'],
  });
  t.equal(await client.revision(limits()), 12);
  t.strictSame(await client.members(limits()), [
    {
      id: '18446744073709551615',
      name: 'etcd',
      peerUrls: ['p'],
      clientUrls: ['c'],
      isLearner: true,
    },
  ]);
  t.strictSame(await client.alarms(limits()), [{ memberId: '7', alarm: 'NOSPACE' }]);
  t.equal(client.endpoint, 'https://etcd.test:2379');
});

t.test('keys are read page by page, without values, also without a leader', async (t) => {
  const asked: object[] = [];
  const pages = [
    { kvs: [{ key: Buffer.from('/a/1') }, { key: Buffer.from('/a/2') }], more: true },
    { kvs: [{ key: Buffer.from('/a/3') }], more: false },
  ];
  const client = await serveEtcd(t, {
    Range: (request) => {
      asked.push({
        ...request,
        key: String(request.key),
        range_end: undefined,
        rangeEnd: String(request.rangeEnd),
      });
      return pages.shift() ?? { kvs: [], more: false };
    },
  });
  t.strictSame(await Array.fromAsync(client.keysBelow('/a/', limits())), ['/a/1', '/a/2', '/a/3']);
  t.match(asked, [
    { key: '/a/', rangeEnd: '/a0', limit: '2000', serializable: true, keysOnly: true },
    { key: '/a/2\0', rangeEnd: '/a0' },
  ]);
  pages.push({ kvs: [], more: true });
  t.strictSame(
    await Array.fromAsync(client.keysBelow('/b/', limits())),
    [],
    'an empty page ends it',
  );
});

t.test('compacting twice is success; other refusals are not', async (t) => {
  const asked: object[] = [];
  const errors = [
    undefined,
    rpcError(status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted'),
    rpcError(status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision'),
    rpcError(status.UNAVAILABLE, 'has been compacted'),
  ];
  const client = await serveEtcd(t, {
    Compact: (request) => {
      asked.push(request);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return { header };
    },
  });
  await client.compact(12, true, limits());
  await client.compact(12, false, limits());
  await t.rejects(client.compact(99, true, limits()), /future revision/);
  await t.rejects(client.compact(12, true, limits()), /compacted/);
  t.match(asked.slice(0, 2), [
    { revision: '12', physical: true },
    { revision: '12', physical: false },
  ]);
});

t.test('every lease is revoked; one that expired meanwhile is not an error', async (t) => {
  const revoked: unknown[] = [];
  let broken = false;
  const client = await serveEtcd(t, {
    LeaseLeases: () => ({ header, leases: [{ ID: '3' }, { ID: '4' }, { ID: '5' }] }),
    LeaseRevoke: ({ ID }) => {
      revoked.push(ID);
      if (ID === '4') throw rpcError(status.NOT_FOUND, 'requested lease not found');
      if (broken) throw rpcError(status.UNAVAILABLE, 'no leader');
      return { header };
    },
  });
  t.equal(await client.revokeLeases(limits()), 3);
  t.strictSame(revoked, ['3', '4', '5']);
  broken = true;
  await t.rejects(client.revokeLeases(limits()), /no leader/);
});

t.test('the latest hash is recomputed; an older one is requested by its revision', async (t) => {
  const asked: unknown[] = [];
  const client = await serveEtcd(t, {
    HashKV: ({ revision }) => {
      asked.push(revision);
      const isLatest = revision === '0';
      return {
        header,
        hash: isLatest ? 1 : 2,
        compactRevision: 4,
        hashRevision: isLatest ? 12 : 10,
      };
    },
    Defragment: () => {
      asked.push('defragment');
      return {};
    },
  });
  t.strictSame(await client.hashKv(12, limits()), { hash: 1, revision: 12, compactRevision: 4 });
  t.strictSame(await client.hashKv(0, limits()), { hash: 1, revision: 12, compactRevision: 4 });
  t.strictSame(asked.splice(0), ['0', '0']);
  t.strictSame(await client.hashKv(10, limits()), { hash: 2, revision: 10, compactRevision: 4 });
  t.strictSame(asked.splice(0), ['0', '10']);
  await client.defragment(limits());
  t.strictSame(asked, ['defragment']);
});

t.test('a watch covers every key', async (t) => {
  const opened = Promise.withResolvers<object>();
  const client = await serveEtcd(
    t,
    {},
    {
      Watch: (stream) => {
        opened.resolve(stream.request);
        stream.send({ header, created: true });
        stream.end();
      },
    },
  );
  const writes = await Array.fromAsync(client.watchAll(limits()));
  t.strictSame(writes, [{ revision: 12, keys: [] }]);
  t.match(await opened.promise, { createRequest: { key: Buffer.of(0), rangeEnd: Buffer.of(0) } });
});

t.test('without TLS or with unusable credentials no client is created', async (t) => {
  const pair = { ca: 'a', cert: 'b', key: 'c' };
  t.match(await thrownBy((async () => connectEtcd('http://127.0.0.1:2379', pair))()), {
    kind: 'usage',
    details: { expected: 'https://', found: 'http://127.0.0.1:2379' },
  });
  t.match(await thrownBy((async () => connectEtcd('https://127.0.0.1:2379', pair))()), {
    kind: 'fatal',
    message: /127\.0\.0\.1:2379/,
    cause: Error,
  });
});

t.test('an unreachable server is reported with its endpoint', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  await new Promise((resolve) => server.close(resolve));
  const authority = await createAuthority('etcd');
  const leaf = await issueLeaf(authority, { subject: { commonName: 'client' }, usage: 'client' });
  const endpoint = `https://127.0.0.1:${address.port}`;
  const client = connectEtcd(endpoint, {
    ca: authority.certificate,
    cert: leaf.certificate,
    key: leaf.key,
  });
  t.teardown(() => client[Symbol.dispose]());
  t.match(await thrownBy(client.status(limits())), { message: new RegExp(`etcd at ${endpoint}`) });
});
