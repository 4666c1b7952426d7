import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { applyDeferred } from '../../../../agents/deferred/apply-deferred.ts';
import { describeError } from '../../../../lib/base/errors/failure.ts';
import { type ApiAnswer, fakeApi, listOf, refuse } from '../host/api.ts';
import { testHost } from '../host/host.ts';

const FOLDER = '/etc/sno-agents/deferred';
const TILL = `${FOLDER}/0001.till.a.json`;
const STATUS = '/api/v1/namespaces/kube-system/configmaps/sno-deferred';
const till = { apiVersion: 'e.com/v1', kind: 'Till', metadata: { name: 'a' } };
const named = (name: string) => ({ ...till, metadata: { name } });
/** Returns a function that advances every clock by two hours until the test ends. */
function hoursPass(t: Test): () => void {
  const real = { wall: Date.now, up: performance.now.bind(performance) };
  let passedMs = 0;
  t.capture(Date, 'now', () => real.wall() + passedMs);
  t.capture(performance, 'now', () => real.up() + passedMs);
  return () => {
    passedMs = 2 * 3_600_000;
  };
}

const inAnHour = () => new Date(Date.now() + 3_600_000);

/** An API that serves tills and stores the status; answers can be replaced. */
function api(more: Record<string, ApiAnswer> = {}) {
  const kept: { data: Record<string, string> } = { data: {} };
  const status = () => ({ metadata: { name: 'sno-deferred', resourceVersion: '1' }, ...kept });
  const resource = { name: 'tills', kind: 'Till', namespaced: false, verbs: ['list', 'create'] };
  const answers: Record<string, ApiAnswer> = {
    'GET /readyz': () => ({}),
    'GET /apis/e.com/v1': () => ({ resources: [resource] }),
    'POST /apis/e.com/v1/tills': () => till,
    'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions': () => listOf(),
    'GET /apis/apiregistration.k8s.io/v1/apiservices': () => listOf(),
    [`GET ${STATUS}`]: status,
    [`PUT ${STATUS}`]: ({ body }) => {
      kept.data = JSON.parse(body).data;
      return status();
    },
    ...more,
  };
  return { answers, kept };
}

async function host(t: Test, more: Record<string, ApiAnswer> = {}, expires = inAnHour()) {
  const it = testHost(t);
  it.write(TILL, JSON.stringify(till), 0o600);
  const { answers, kept } = api(more);
  const { requests } = await fakeApi(t, it, answers);
  const context = { ...it.context, expires };
  return {
    it,
    kept,
    requests,
    context,
    run: () => applyDeferred.run(context, it.progress()),
    holds: () => applyDeferred.holds(context, it.progress()),
  };
}

t.test('apply', async (t) => {
  t.test('creates the object, records it, then deletes the file', async (t) => {
    const { it, kept, requests, run, holds } = await host(t);
    t.equal(await holds(), false, 'before');
    t.same(await run(), { kind: 'done', note: '1 applied' });
    t.match(kept.data, { '0001.till.a': /^applied 20/ });
    t.notOk(it.has(TILL));
    t.equal(await holds(), true, 'after');
    t.equal(requests[0], 'GET /readyz', 'nothing is asked of an API that is not ready');
    t.ok(requests.indexOf('POST /apis/e.com/v1/tills') < requests.lastIndexOf(`PUT ${STATUS}`));
    t.match(await run(), { note: 'nothing left to apply' }, 'again');
  });

  t.test('objects applied by an earlier run are not created again', async (t) => {
    const { it, kept, requests, run } = await host(t);
    kept.data = { '0001.till.a': 'applied 2030-01-01T00:00:00Z' };
    t.match(await run(), { kind: 'done' });
    t.notOk(requests.includes('POST /apis/e.com/v1/tills'));
    t.notOk(it.has(TILL));
  });

  t.test('a rejected one fails permanently, and its file is kept', async (t) => {
    const no = {
      'POST /apis/e.com/v1/tills': () => refuse(422, 'no such drawer'),
      'GET /apis/e.com/v1/tills/a': () => refuse(404),
    };
    const { it, kept, run, holds } = await host(t, no);
    await t.rejects(run(), {
      kind: 'fatal',
      message: /1 deferred manifest was rejected.*no such drawer.*start sno-deferred/,
    });
    t.ok(it.has(TILL));
    t.match(kept.data, { '0001.till.a': /^rejected/ });
    t.equal(await holds(), false);
  });

  t.test(
    'objects whose kind is not served by the expiry are given up, with the reason',
    async (t) => {
      const expire = hoursPass(t);
      const unserved = () => {
        expire();
        return refuse(404);
      };
      const { it, kept, run } = await host(t, { 'GET /apis/e.com/v1': unserved });
      await t.rejects(run(), { kind: 'deadline', message: /not applied by .*expired.*Till/ });
      t.match(kept.data, { '0001.till.a': /^expired .*Till in e\.com\/v1/ });
      t.ok(it.has(TILL));
    },
  );

  t.test(
    'objects that expired while the host was off are given up once the API is ready',
    async (t) => {
      let asked = 0;
      const answers = {
        'GET /readyz': () => (asked++ === 0 ? refuse(500) : {}),
        'GET /apis/e.com/v1': () => refuse(404),
      };
      const { it, kept, run } = await host(t, answers, new Date(Date.now() - 3_600_000));
      await t.rejects(run(), {
        kind: 'deadline',
        message: /^1 deferred manifest was not applied by /,
      });
      t.match(kept.data, { '0001.till.a': /^expired .*not tried yet/ });
      t.match(it.lines.join(''), /Waiting for the API server to be ready: \/readyz returned 500/);
    },
  );

  t.test('rejected objects are reported beside expired ones', async (t) => {
    const shop = { ...till, kind: 'Shop', metadata: { name: 'b', namespace: 'mall' } };
    const expire = hoursPass(t);
    const { it, run, kept } = await host(t, {
      'POST /apis/e.com/v1/tills': () => refuse(422, 'no such drawer'),
      'GET /apis/e.com/v1/tills/a': () => {
        expire();
        return refuse(404);
      },
    });
    it.write(`${FOLDER}/0002.shop.b.json`, JSON.stringify(shop), 0o600);
    await t.rejects(run(), {
      kind: 'deadline',
      message:
        /found Shop mall\/b expired .*; Till a rejected: .*no such drawer.*run --expires-in-hours/,
    });
    t.same(Object.keys(kept.data), ['0001.till.a', '0002.shop.b']);
  });

  t.test('several that are rejected are counted', async (t) => {
    const { it, run } = await host(t, {
      'POST /apis/e.com/v1/tills': () => refuse(422, 'no such drawer'),
      'GET /apis/e.com/v1/tills/a': () => refuse(404),
      'GET /apis/e.com/v1/tills/b': () => refuse(404),
    });
    it.write(`${FOLDER}/0002.till.b.json`, JSON.stringify(named('b')), 0o600);
    await t.rejects(run(), { kind: 'fatal', message: /^2 deferred manifests were rejected/ });
  });

  t.test('objects are created in the order of their files, one after the other', async (t) => {
    const order: string[] = [];
    const { it, run } = await host(t, {
      'POST /apis/e.com/v1/tills': async ({ body }) => {
        const { name } = JSON.parse(body).metadata;
        order.push(`begin ${name}`);
        await sleep(50);
        order.push(`end ${name}`);
        return JSON.parse(body);
      },
    });
    it.write(`${FOLDER}/0002.till.b.json`, JSON.stringify(named('b')), 0o600);
    t.same(await run(), { kind: 'done', note: '2 applied' });
    t.same(order, ['begin a', 'end a', 'begin b', 'end b']);
  });

  t.test('until then, waits for it', async (t) => {
    const { it, context } = await host(t, { 'GET /apis/e.com/v1': () => refuse(404) });
    const stop = new AbortController();
    const progress = it.progress(stop.signal);
    const running = applyDeferred.run(context, progress).catch(describeError);
    await it.said(/Till a: waiting for Till in e\.com\/v1 to be served/);
    await it.said(/Waiting for deferred manifests, until 20\S+: 0 of 1 .*serves no Till/);
    stop.abort(new Error('told to stop'));
    t.match(await running, /told to stop/);
  });

  t.test('without its ConfigMap an object is still applied', async (t) => {
    const { it, run } = await host(t, { [`GET ${STATUS}`]: () => refuse(404) });
    t.same(await run(), { kind: 'done', note: '1 applied' });
    t.notOk(it.has(TILL));
    t.match(it.lines.join(''), /The status ConfigMap cannot be written/);
  });

  for (const code of [503, 403]) {
    t.test(
      `a status that the API refuses (${code}) is written once it is ready again`,
      async (t) => {
        const { answers, kept } = api();
        let writes = 0;
        const { it, requests, run } = await host(t, {
          ...answers,
          [`PUT ${STATUS}`]: (request) => {
            writes += 1;
            return writes === 2
              ? refuse(code)
              : (answers[`PUT ${STATUS}`]?.(request) ?? refuse(404));
          },
        });
        t.same(await run(), { kind: 'done', note: '1 applied' });
        t.match(kept.data, { '0001.till.a': /^applied 20/ });
        t.notOk(it.has(TILL));
        t.match(it.lines.join(''), /The status ConfigMap cannot be written/);
        t.ok(requests.lastIndexOf('GET /readyz') > requests.indexOf('POST /apis/e.com/v1/tills'));
      },
    );
  }

  t.test('without the right to read the status an object is still applied', async (t) => {
    const { it, run } = await host(t, { [`GET ${STATUS}`]: () => refuse(403) });
    t.same(await run(), { kind: 'done', note: '1 applied' });
    t.match(it.lines.join(''), /The status ConfigMap cannot be read/);
  });

  t.test('other entries in the status are kept', async (t) => {
    const { kept, run } = await host(t);
    kept.data = { theirs: 'x' };
    await run();
    t.match(kept.data, { theirs: 'x', '0001.till.a': /^applied/ });
  });

  for (const [conflicts, writes] of [
    [2, 'is written'],
    [3, 'is written later'],
  ] as const) {
    t.test(`a status that others write ${conflicts} times meanwhile ${writes}`, async (t) => {
      const { answers, kept } = api();
      let puts = 0;
      const { it, run } = await host(t, {
        ...answers,
        [`PUT ${STATUS}`]: (request) => {
          puts += 1;
          return puts <= conflicts
            ? refuse(409, 'changed meanwhile', 'Conflict')
            : (answers[`PUT ${STATUS}`]?.(request) ?? {});
        },
      });
      t.same(await run(), { kind: 'done', note: '1 applied' });
      t.match(kept.data, { '0001.till.a': /^applied/ });
      const isTold = /The status ConfigMap cannot be written/.test(it.lines.join(''));
      t.equal(isTold, conflicts === 3, 'three attempts are made at once');
    });
  }

  t.test('without the right to write the status an object is still applied', async (t) => {
    const { it, run } = await host(t, { [`PUT ${STATUS}`]: () => refuse(403) });
    t.same(await run(), { kind: 'done', note: '1 applied' });
    t.notOk(it.has(TILL));
  });

  t.test('a status that is never accepted is retried, and the file is kept', async (t) => {
    const { it, run } = await host(t, { [`PUT ${STATUS}`]: () => refuse(503) });
    await t.rejects(run(), { kind: 'retry', message: /the status ConfigMap is not written yet/ });
    t.ok(it.has(TILL));
  });
});
