/** A site as objects of an installed cluster: what is written, in which order, and what an interruption leaves. */
import t from 'tap';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { isStored } from '../../clients/kube/stored-writes.ts';
import { INSTALLED } from './installed-objects.ts';
import { MINIMAL, placeOf, plain, startSiteApi, WHOLE } from './site-api.ts';
import { ORDER, SAID, WANTED } from './written-objects.ts';

t.test('each object is written once, in order, and has exactly this', async (t) => {
  const { carryOut, writes, state, api } = await startSiteApi(t);
  t.strictSame(await carryOut(WHOLE), SAID);
  t.strictSame(writes(), ORDER);
  t.strictSame(state(), WANTED);
  const versions = () => [...api.all().values()].map(({ metadata }) => metadata.resourceVersion);
  const before = versions();
  t.strictSame(await carryOut(WHOLE), [], 'again');
  t.strictSame(writes(), []);
  t.strictSame(versions(), before);
});

t.test('a site that says nothing but its domain', async (t) => {
  const { carryOut, writes, api } = await startSiteApi(t);
  const unchanged = ['pull-secret', '99-master-ssh', 'image-digest-mirror', 'image-policy'];
  await carryOut(MINIMAL);
  t.strictSame(writes(), [...ORDER.slice(0, 3), ...ORDER.slice(-4)]);
  for (const object of INSTALLED) {
    if (!unchanged.includes(object.metadata.name)) continue;
    t.strictSame(plain(api.get(placeOf(object))), object, object.metadata.name);
  }
});

t.test('killed behind each write, it goes on with the next one', async (t) => {
  const { carryOut, writes, state, api } = await startSiteApi(t);
  const made: string[] = [];
  for (const _ of ORDER) {
    api.endAfter(1);
    t.match(await thrownBy(carryOut(WHOLE)), { name: 'KubeError', kind: 'unreachable' });
    made.push(...writes());
  }
  t.strictSame(made, ORDER);
  api.endAfter(Number.POSITIVE_INFINITY);
  t.strictSame(await carryOut(WHOLE), []);
  t.strictSame(state(), WANTED);
});

t.test(
  'refused at each write: nothing behind it is changed, and the message names it',
  async (t) => {
    const { carryOut, state, api } = await startSiteApi(t);
    const message = '"x" is invalid: spec.field: Invalid value';
    let isRefusing = true;
    api.rule(({ method }) =>
      isRefusing && method !== 'GET' ? refusal(422, { reason: 'Invalid', message }) : undefined,
    );
    for (const request of ORDER) {
      const before = state();
      const error = await thrownBy(carryOut(WHOLE));
      const [method = '', path = ''] = request.split(' ');
      t.match(error, { name: 'KubeError', kind: 'rejected' });
      t.match(error, { message: `${method} ${path}: 422 ${message}` });
      t.strictSame(state(), before, request);
      isRefusing = false;
      api.endAfter(1);
      await thrownBy(carryOut(WHOLE));
      api.endAfter(Number.POSITIVE_INFINITY);
      isRefusing = true;
    }
    t.strictSame(state(), WANTED);
  },
);

t.test('changed by somebody else in between: refused, and the next attempt keeps it', async (t) => {
  const { carryOut, writes, state, api } = await startSiteApi(t);
  const annotations = { by: 'another' };
  const taken = new Set<string>();
  api.rule(({ method, path, body }) => {
    if (method === 'GET') return undefined;
    const name = isStored(body) ? body.metadata.name : '';
    const place = method === 'POST' ? `${path}/${name}` : path;
    const found = api.get(place) ?? body;
    if (taken.has(place) || !isStored(found)) return undefined;
    taken.add(place);
    api.set(place, { ...found, metadata: { ...found.metadata, annotations } });
    return undefined;
  });
  for (const request of ORDER) {
    const error = await thrownBy(carryOut(WHOLE));
    t.match(error, { name: 'KubeError', kind: 'conflict' });
    t.match(error, { message: `${request}: 409` });
    t.strictSame(writes().at(-1), request);
  }
  t.strictSame(await carryOut(WHOLE), SAID.slice(-1));
  const annotated = [...taken].flatMap((place) => {
    const object = WANTED[place];
    return object === undefined
      ? []
      : [[place, { ...object, metadata: { ...object.metadata, annotations } }]];
  });
  t.strictSame(state(), { ...WANTED, ...Object.fromEntries(annotated) });
});
