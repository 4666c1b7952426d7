import t from 'tap';
import { parse } from 'yaml';
import { TOKEN_HOURS } from '../../../../lib/clients/rights/bootstrap-token.ts';
import {
  createFutureToken,
  futureTokenPath,
  readFutureToken,
} from '../../../../lib/cluster/workers/future-token.ts';
import { kubernetesRenderer } from '../../../../lib/render/kubernetes/index.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { input, rendered } from '../../render/rendered-host.ts';

const NOW = new Date('2030-01-01T12:00:00.500Z');
const paths = (assetsTls: string) => ({ assetsTls });

t.test('the hours of a token for an installation begin with the installation', async (t) => {
  const token = createFutureToken(36);
  const folder = t.testdir({ 'worker-token.json': JSON.stringify(token) });
  t.equal(futureTokenPath(paths(folder)), `${folder}/worker-token.json`);
  t.same(await readFutureToken(paths(folder), NOW), {
    id: token.id,
    secret: token.secret,
    expires: new Date('2030-01-03T00:00:00.500Z'),
  });
  t.not(createFutureToken(36).secret, token.secret);
});

t.test('from an hour on, and no longer than a token may last', async (t) => {
  for (const hours of [1, TOKEN_HOURS.maximum]) {
    const folder = t.testdir({ 'worker-token.json': JSON.stringify(createFutureToken(hours)) });
    const expires = new Date(NOW.getTime() + hours * 3_600_000);
    t.match(await readFutureToken(paths(folder), NOW), { expires });
  }
  const longer = createFutureToken(TOKEN_HOURS.maximum + 1);
  const folder = t.testdir({ 'worker-token.json': JSON.stringify(longer) });
  t.match(await thrownBy(readFutureToken(paths(folder), NOW)), { kind: 'usage' });
});

t.test('without workers there is none', async (t) => {
  t.equal(await readFutureToken(paths(t.testdir()), NOW), undefined);
  t.notOk(rendered.manifests.some(({ contents }) => contents.includes('bootstrap-token-')));
});

const good = { id: 'abcdef', secret: '0123456789abcdef', hours: 24 };
for (const [title, text] of [
  ['no JSON', '{'],
  ['an id of another form', JSON.stringify({ ...good, id: 'ABCDEF' })],
  ['a short secret', JSON.stringify({ ...good, secret: 'abc' })],
  ['a long secret', JSON.stringify({ ...good, secret: `${good.secret}0` })],
  ['a long id', JSON.stringify({ ...good, id: `${good.id}0` })],
  ['a token for ever', JSON.stringify({ ...good, hours: 1e6 })],
  ['a token for no time', JSON.stringify({ ...good, hours: 0 })],
  ['an unknown field', JSON.stringify({ ...good, groups: 'system:masters' })],
] as const) {
  t.test(`${title} is refused, and not quoted`, async (t) => {
    const folder = t.testdir({ 'worker-token.json': text });
    const error = await thrownBy(readFutureToken(paths(folder), NOW));
    const message = /worker-token\.json cannot be used; .*found .*Create the Ignition config/s;
    t.match(error, { kind: 'usage', message });
    t.notMatch(String(error), /ABCDEF|abcdef|0123456789|system:masters|1000000/);
  });
}

t.test('the cluster is told of it, for workers alone', async (t) => {
  const workerToken = { id: good.id, secret: good.secret, expires: NOW };
  const { manifests } = await kubernetesRenderer.render({ ...input, workerToken });
  const one = manifests.find(({ name }) => name === '10-worker-token.yaml');
  t.match(parse(one?.contents ?? ''), {
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      expiration: '2030-01-01T12:00:00Z',
      'auth-extra-groups': 'system:bootstrappers:sno-workers',
    },
  });
});
