import t from 'tap';
import { JsonLines } from '../../../../lab/machine/json-lines.ts';
import { type Request, say, serveLines } from './server.ts';

const DEADLINE_MS = 10_000;
const { signal } = new AbortController();

t.test('each answer belongs to the request with its id, in whatever order they come', async (t) => {
  const waiting: Request[] = [];
  const path = await serveLines(t, (request, socket) => {
    waiting.push(request);
    if (waiting.length < 2) return;
    for (const { id, execute } of waiting.toReversed()) say(socket, { return: execute, id });
  });
  const lines = await JsonLines.connect(path, DEADLINE_MS, signal);
  t.teardown(() => lines.close());
  const answers = ['first', 'second'].map((name) => lines.request(name, {}, DEADLINE_MS));
  t.same(await Promise.all(answers), ['first', 'second']);
});

t.test('a refusal has the words of the other side', async (t) => {
  const path = await serveLines(t, ({ id }, socket) => {
    say(socket, { error: { class: 'GenericError', desc: "Device 'cd' is locked" }, id });
  });
  const lines = await JsonLines.connect(path, DEADLINE_MS, signal);
  t.teardown(() => lines.close());
  await t.rejects(lines.request('eject', {}, DEADLINE_MS), { message: /Device 'cd' is locked/ });
});

t.test('events and what is no JSON do not disturb an answer', async (t) => {
  const path = await serveLines(t, ({ id }, socket) => {
    say(socket, { event: 'RESET', data: { guest: true }, timestamp: { seconds: 1 } });
    socket.write('{"return": {"exi\n');
    say(socket, { return: {}, id });
  });
  const lines = await JsonLines.connect(path, DEADLINE_MS, signal);
  t.teardown(() => lines.close());
  const events: unknown[] = [];
  lines.onEvent = (name, data) => events.push([name, data]);
  t.same(await lines.request('query-status', {}, DEADLINE_MS), {});
  t.same(events, [['RESET', { guest: true }]]);
});

t.test('who never answers is given up at the deadline', async (t) => {
  const path = await serveLines(t, () => undefined);
  const lines = await JsonLines.connect(path, DEADLINE_MS, signal);
  t.teardown(() => lines.close());
  await t.rejects(lines.request('guest-ping', {}, 1), { message: /guest-ping was not answered/ });
});

t.test('when the other side ends, nothing waits for it any more', async (t) => {
  const path = await serveLines(t, (_, socket) => socket.destroy());
  const lines = await JsonLines.connect(path, DEADLINE_MS, signal);
  await t.rejects(lines.request('quit', {}, DEADLINE_MS), { message: 'the machine has ended' });
  await t.rejects(lines.request('quit', {}, DEADLINE_MS), { message: 'the machine has ended' });
});
