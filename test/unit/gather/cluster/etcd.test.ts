import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { etcd } from '../../../../agents/gather/sources/etcd.ts';
import { etcdMetricsUrl } from '../../../../agents/gather/sources/etcd-access.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { readAll, testHost } from './host.ts';

const { gather } = accessTo('kubernetes');
const MANIFEST = '/etc/kubernetes/manifests/etcd.yaml';
const authority = await createAuthority('etcd-ca');
const client = await issueLeaf(authority, { subject: { commonName: 'x' }, usage: 'client' });

t.test('a host without etcd has no etcd files', async (t) => {
  t.equal((await readAll(etcd, testHost(t).host)).size, 0);
});

t.test('a missing client certificate is reported as the reason', async (t) => {
  const { host, write } = testHost(t);
  write(MANIFEST, 'args: [--listen-metrics-urls=http://127.0.0.1:1]');
  const files = await readAll(etcd, host);
  const status = files.get('control-plane/master/etcd/endpoint-status.json');
  t.match(status?.failure, /no client certificate for etcd/);
});

t.test('the address of its metrics', async (t) => {
  const cases: [string | undefined, string][] = [
    [undefined, 'http://127.0.0.1:2381/'],
    ['- --listen-metrics-urls=http://127.0.0.1:99\n', 'http://127.0.0.1:99/'],
    ['  --listen-metrics-urls=https://0.0.0.0:9978 \\\n', 'https://127.0.0.1:9978/'],
    ['["--listen-metrics-urls=https://[::]:9978,http://x"]', 'https://127.0.0.1:9978/'],
  ];
  for (const [manifest, expected] of cases) {
    const { host, write } = testHost(t);
    if (manifest !== undefined) write(MANIFEST, manifest);
    t.equal((await etcdMetricsUrl(host)).href, expected);
  }
});

t.test('a dead etcd is the reason for every file, in time', async (t) => {
  const sockets: Socket[] = [];
  const hole = createServer((socket) => sockets.push(socket));
  hole.listen(0, '127.0.0.1');
  await new Promise((resolve) => hole.once('listening', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    hole.close();
  });
  const address = hole.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  for (const [name, port, withinMs] of [
    ['refused', 1, 2000],
    ['no answer', address.port, 7000],
  ] as const) {
    await t.test(name, async (t) => {
      const { host, write } = testHost(t);
      const url = `https://127.0.0.1:${port}`;
      write(MANIFEST, `--listen-client-urls=${url} --listen-metrics-urls=${url}`);
      write(gather.etcd.ca, authority.certificate);
      write(gather.etcd.certificate, client.certificate);
      write(gather.etcd.key, client.key);
      const begun = performance.now();
      const files = await readAll(etcd, host);
      t.ok(performance.now() - begun < withinMs, `${performance.now() - begun} ms`);
      t.equal(files.size, 5);
      for (const [path, { text, failure }] of files) {
        t.equal(text, '', path);
        t.match(failure, /etcd at https.*: \w+ failed|etcd does not answer at/, path);
      }
    });
  }
});
