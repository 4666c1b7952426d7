import { hostname } from 'node:os';
import t from 'tap';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { trustDigest, WORKER_SELECTOR } from '../../../../lib/cluster/workers/api-trust.ts';
import { controllerManagerTrust } from '../../../../lib/render/kubernetes/kube-controller-manager.ts';
import { servingPair, textAt } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { type Answer, apiOf } from './earlier-authority.ts';
import { installed, REQUEST } from './rotate-host.ts';

const node = (name: string, digest?: string) => ({
  metadata: { name, annotations: digest === undefined ? {} : { 'sno-agents/api-trust': digest } },
});
const listing = (...nodes: readonly object[]) => ({ 'GET /api/v1/nodes': listOf(...nodes) });
const present = trustDigest(textAt(controllerManagerTrust.api));

t.test('rotations that would cut workers off', async (t) => {
  t.test('they learn of no other CA than that of the API server', async (t) => {
    const nodes = listing(node('worker-0', present), node('worker-1'), node(hostname(), present));
    for (const name of ['kubelet-client', 'kubelet-serving', 'admin'] as const) {
      const { url, longestMs, selectors } = await apiOf(t, servingPair, nodes);
      const { host, run } = await installed(t, { api: url });
      for (const names of [[name], ['serving', name]]) {
        const { code, errors } = await run('rotate-ca', ...names);
        t.equal(code, 2);
        t.match(errors, `has workers, which do not learn of a new CA ${name}: worker-0, worker-1.`);
        t.notOk(host.has(REQUEST));
      }
      t.equal((await run('rotate-ca', 'etcd', '--no-wait')).code, 0, 'no worker trusts it');
      t.ok(longestMs() > 0 && longestMs() < 120_000, 'its rights end with the question');
      t.same([...selectors], [`/api/v1/nodes ${WORKER_SELECTOR}`]);
    }
  });

  t.test('those that have not confirmed the CA of the API server', async (t) => {
    const other = trustDigest((await createAuthority('kube-apiserver-serving-ca')).certificate);
    const table: [nodes: readonly object[], named: string | undefined][] = [
      [[node('worker-0')], 'worker-0'],
      [[node('worker-0', present), node('worker-1', other)], 'worker-1'],
      [[node('worker-0', ''), node('worker-1')], 'worker-0, worker-1'],
      [[node('worker-0', present), node('worker-1', present)], undefined],
      // A host of an earlier release has no label. It confirms nothing.
      [[node(hostname()), node('worker-0', present)], undefined],
    ];
    for (const [nodes, named] of table) {
      const { host, run } = await installed(t, {
        api: (await apiOf(t, servingPair, listing(...nodes))).url,
      });
      const { code, errors } = await run('rotate-ca', 'serving', '--no-wait');
      t.equal(code, named === undefined ? 0 : 2);
      t.equal(host.has(REQUEST), named === undefined);
      const says = `have not confirmed that they follow the CA of the API server: ${named}. Start`;
      if (named !== undefined) t.match(errors, says);
    }
  });

  t.test('the name of the host may be pinned, and is no worker', async (t) => {
    const api = (await apiOf(t, servingPair, listing(node('pinned-0')))).url;
    const { host, run } = await installed(t, { api });
    t.equal((await run('rotate-ca', 'admin')).code, 2);
    host.write(
      '/etc/sno-agents/kubelet.env',
      'KUBELET_NODE_IPS=192.0.2.10\nKUBELET_NODE_NAME=pinned-0\n',
    );
    t.equal((await run('rotate-ca', 'admin', '--no-wait')).code, 0);
  });

  t.test('nobody knows whether there are workers', async (t) => {
    const cut: Answer = () => undefined;
    for (const answer of [cut, () => ({ kind: 'Status', code: 503 })]) {
      const { url } = await apiOf(t, servingPair, { 'GET /api/v1/nodes': answer });
      const { host, run } = await installed(t, { api: url });
      for (const name of ['serving', 'kubelet-client', 'kubelet-serving', 'admin'] as const) {
        const { code, errors } = await run('rotate-ca', name, '--no-wait');
        t.equal(code, 2, name);
        t.match(errors, /cannot be determined whether workers would be cut off.*when the API/);
        t.notOk(host.has(REQUEST));
      }
      t.equal((await run('rotate-ca', 'etcd', '--no-wait')).code, 0, 'no worker trusts it');
    }
  });
});
