/** Secrets that are stored again, on an API server that does not always answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { readSecrets, rewriteSecrets } from '../../../../agents/upkeep/rotate/stored-secrets.ts';
import { requestRotation } from '../../../../lib/change/rotation/request.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import { servingPair, textAt } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { type Answer, apiOf } from './earlier-authority.ts';

const LIST = 'GET /api/v1/secrets';
const PATCH = 'PATCH /api/v1/namespaces/shop/secrets';
const status = (code: number, message: string) => ({ kind: 'Status', code, message });
const page = (names: readonly string[], next?: string) => ({
  metadata: { continue: next },
  items: names.map((name) => ({ metadata: { name, namespace: 'shop' } })),
});

/** Answers one after the other; the last one stays. */
function inTurn(...answers: Answer[]): Answer {
  let at = 0;
  return () => answers[Math.min(at++, answers.length - 1)]?.();
}

async function rotating(t: Test, answers: Readonly<Record<string, Answer>>, settings: object) {
  const host = testHost(t);
  const { url, requests } = await apiOf(t, servingPair, answers);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  for (const { certificate, key } of [authorityPaths('admin'), authorityPaths('serving')]) {
    for (const path of [certificate, key]) host.write(path, textAt(path));
  }
  await requestRotation(host.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  const context = await rotateContext(hostPaths(host.root, { api: url }));
  return { host, requests, context };
}

const ok = () => ({});

t.test('a request that fails for a moment is repeated, and no other one', async (t) => {
  const late = async () => {
    // Longer than one request may fail: that is no limit for all of them.
    await sleep(1200);
    return status(429, 'too many requests');
  };
  const answers = {
    [LIST]: inTurn(
      () => page(['a', 'b'], 'more'),
      () => status(410, 'the continue token is too old'),
      () => page(['a', 'b'], 'more'),
      () => undefined,
      () => page(['c', 'deleted']),
    ),
    [`${PATCH}/a`]: ok,
    [`${PATCH}/b`]: inTurn(
      late,
      () => undefined,
      () => status(503, 'restarting'),
      ok,
    ),
    [`${PATCH}/c`]: ok,
  };
  const { host, requests, context } = await rotating(t, answers, { renewProofMs: 1000 });
  await rewriteSecrets(context, host.progress());
  const count = (name: string) => requests.filter((each) => each === name).length;
  t.equal(count(LIST), 5, 'the list began again once its continue token had expired');
  t.same(
    ['a', 'b', 'c', 'deleted'].map((name) => count(`${PATCH}/${name}`)),
    [1, 4, 1, 1],
  );
  t.match(host.lines.join(''), /Encrypted 4 Secrets with the new key/);
});

t.test('a few are stored at a time: the API server is there for others, too', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
  let present = 0;
  const seen: number[] = [];
  const patched = async () => {
    seen.push(++present);
    await sleep(50);
    present -= 1;
    return {};
  };
  const patches = names.map((name) => [`${PATCH}/${name}`, patched] as const);
  const answers = { [LIST]: () => page(names), ...Object.fromEntries(patches) };
  const { host, context } = await rotating(t, answers, {});
  await rewriteSecrets(context, host.progress());
  t.equal(seen.length, names.length);
  t.ok(Math.max(...seen) <= 4, `${seen}`);
});

t.test('a list that fails for a moment is read again', async (t) => {
  const answers = {
    [LIST]: inTurn(
      () => undefined,
      () => status(503, 'restarting'),
      () => page(['a']),
    ),
  };
  const { host, requests, context } = await rotating(t, answers, {});
  await readSecrets(context, host.progress());
  t.same(requests, [LIST, LIST, LIST]);
  t.match(host.lines.join(''), /1 Secrets are readable/);
});

t.test('once one has failed, no other one is repeated', async (t) => {
  const asked = Promise.withResolvers<void>();
  const answers = {
    [LIST]: () => page(['a', 'b']),
    [`${PATCH}/a`]: async () => {
      await asked.promise;
      return status(422, 'immutable');
    },
    [`${PATCH}/b`]: () => {
      asked.resolve();
      return new Promise<undefined>(() => {});
    },
  };
  const { host, context } = await rotating(t, answers, {});
  const clock = stopClock(t);
  await t.rejects(rewriteSecrets(context, host.progress()), { message: /immutable/ });
  let isRepeated = false;
  void clock.sleeping().then(() => {
    isRepeated = true;
  });
  // For the connections to end.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  t.notOk(isRepeated);
});

t.test('what does not pass ends it', async (t) => {
  const table: [answer: Answer, settings: object, kind: string, message: RegExp][] = [
    [() => status(422, 'immutable'), {}, 'rejected', /immutable/],
    [() => status(500, 'no key'), { renewProofMs: 1 }, 'busy', /no key/],
  ];
  const first = { [LIST]: () => status(410, 'not one that was begun') };
  const { host: other, context: begun } = await rotating(t, first, {});
  await t.rejects(rewriteSecrets(begun, other.progress()), { kind: 'expired', message: /begun/ });
  for (const [answer, settings, kind, message] of table) {
    const answers = { [LIST]: () => page(['a']), [`${PATCH}/a`]: answer };
    const { host, requests, context } = await rotating(t, answers, settings);
    await t.rejects(rewriteSecrets(context, host.progress()), { kind, message });
    t.same(requests, [LIST, `${PATCH}/a`]);
  }
});
