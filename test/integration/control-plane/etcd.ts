import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { etcdKeys } from '../../../lab/servers/etcd-keys.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { textAt } from '../../unit/render/rendered-host.ts';
import { attempt, type Caller } from './request.ts';
import { leafOf, NAMESPACE, PASSWORD, renderedLeaf, type World } from './world.ts';

const etcdPki = '/etc/kubernetes/pki/etcd';

export function etcdAttacks(world: World): void {
  t.test('etcd only accepts clients of its own authority', async (t) => {
    const { plane, admin } = world;
    const peers = renderedLeaf(`${etcdPki}/peer`);
    const callers: [string, Caller][] = [
      ['nobody', {}],
      ['an administrator of the API', admin],
      ['a client of the serving authority', await leafOf('serving', 'kube-apiserver-etcd-client')],
      ['a node', await leafOf('kubelet-client', 'kube-apiserver-etcd-client')],
      ['its own server certificate', renderedLeaf(`${etcdPki}/server`)],
    ];
    for (const rendered of [2379, 2380]) {
      const port = plane.port(rendered);
      for (const [who, caller] of callers) {
        const answer = await attempt({ ...caller, port, path: '/version' });
        t.match(answer, /alert|ECONNRESET|EPIPE|socket/, `${rendered}: ${who}`);
      }
      t.equal(await attempt({ ...peers, port, path: '/version' }), 200, `${rendered}: a peer`);
    }
  });

  t.test('etcd accepts no old TLS and has no other endpoint', async (t) => {
    const { plane } = world;
    const agent = renderedLeaf('/etc/sno-agents/etcd-client');
    const request = { ...agent, port: plane.port(2379) };
    const tls = {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    for (const rendered of [2379, 2380]) {
      const refused = await attempt({
        ...request,
        port: plane.port(rendered),
        path: '/version',
        tls,
      });
      t.match(refused, /alert protocol version/, String(rendered));
    }
    const gateway = { ...request, method: 'POST', path: '/v3/kv/range', body: {} } as const;
    t.equal(await attempt(gateway), 404, 'the JSON gateway');
    t.match(await metrics(plane.port(2381)), /^etcd_server_has_leader 1$/m);
    t.match(await metrics(plane.port(2381)), /etcd_server_quota_backend_bytes 8.589934592e\+09/);
  });

  t.test('everything except the API server listens only on loopback', async (t) => {
    const { plane } = world;
    for (const rendered of [2379, 2380, 2381, 10257, 10259]) {
      t.same(await listeners(plane.port(rendered)), ['0100007F'], String(rendered));
    }
  });

  t.test('Secrets are encrypted in the database', async (t) => {
    const { plane } = world;
    const { certificate, key } = renderedLeaf('/etc/sno-agents/etcd-client');
    const ca = textAt(authorityPaths('etcd').certificate);
    const endpoint = `https://127.0.0.1:${plane.port(2379)}`;
    using keys = etcdKeys(endpoint, { ca, cert: certificate, key });
    const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
    const stored = await keys.get(`/registry/secrets/${NAMESPACE}/database`, limits);
    t.match(stored?.subarray(0, 32).toString('latin1'), /^k8s:enc:secretbox:v1:key1:/);
    t.notOk(stored?.includes(PASSWORD));
    t.notOk(stored?.includes(Buffer.from(PASSWORD).toString('base64')));
    const account = await keys.get(`/registry/serviceaccounts/${NAMESPACE}/web`, limits);
    t.ok(
      account?.includes('ServiceAccount'),
      'what is no Secret can be read, so this looked right',
    );
  });
}

function metrics(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path: '/metrics', agent: false }, (response) =>
      text(response).then(resolve, reject),
    )
      .on('error', reject)
      .end();
  });
}

/** Listening addresses for that port, in the kernel's notation. */
async function listeners(port: number): Promise<string[]> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  const listening = /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A /;
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, address = '', found] = listening.exec(line) ?? [];
      return found === hex ? [address] : [];
    }),
  );
}
