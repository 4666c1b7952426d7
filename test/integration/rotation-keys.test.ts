/** Rotations of the keys without certificates. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { etcdKeys } from '../../lab/servers/etcd-keys.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { textAt } from '../unit/render/rendered-host.ts';
import { rotatingHost } from './control-plane/rotating-host.ts';
import { NAMESPACE, PASSWORD, renderedLeaf } from './control-plane/world.ts';

const root = await mkdtemp(join(tmpdir(), 'rotation-'));
t.teardown(() => rm(root, { recursive: true, force: true }));
const it = await rotatingHost(t, root);
const { world, paths, keeper } = it;

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });

t.test('the encryption key: every Secret is encrypted again, and readable', async (t) => {
  await it.rotate({ kind: 'encryption' });
  await it.hasEnded(t, ['kube-apiserver']);
  t.equal(
    keeper.restarts.length,
    3,
    'the new key is the second, then the first, then the only one',
  );
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets/database`;
  const { body } = await world.api({ ...world.admin, path });
  t.match(body, Buffer.from(PASSWORD).toString('base64'));
  const { certificate, key } = renderedLeaf('/etc/sno-agents/etcd-client');
  const ca = textAt(authorityPaths('etcd').certificate);
  using keys = etcdKeys(paths.endpoints.etcd ?? '', { ca, cert: certificate, key });
  const stored = await keys.get(`/registry/secrets/${NAMESPACE}/database`, limits());
  t.match(stored?.subarray(0, 32).toString('latin1'), /^k8s:enc:secretbox:v1:key2:/);
});

t.test('the service account key: both are accepted until the overlap has ended', async (t) => {
  const codes = [await it.statusFor(world.pod)];
  await it.rotate({ kind: 'service-account' }, async ({ name }) => {
    if (name === 'use-new' || name === 'trust-new') codes.push(await it.statusFor(world.pod));
  });
  t.same(codes, [201, 201, 401], 'a token of the old key');
  await it.hasEnded(t, ['kube-apiserver', 'kube-controller-manager']);
});
