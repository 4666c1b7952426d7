import type { Socket } from 'node:net';
import t from 'tap';
import { GuestAgent } from '../../../../lab/machine/guest-agent.ts';
import { type Request, say, serveLines } from './server.ts';

const { signal } = new AbortController();
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** An agent whose programs end like this, after it was asked once too early. */
const ending =
  (status: object, seen: Request[] = []) =>
  (request: Request, socket: Socket) => {
    seen.push(request);
    const asked = seen.filter(({ execute }) => execute === 'guest-exec-status').length;
    const { id, execute } = request;
    if (execute === 'guest-exec') say(socket, { return: { pid: 7 }, id });
    else say(socket, { return: asked < 2 ? { exited: false } : { exited: true, ...status }, id });
  };

t.test('runs a program with a deadline, an environment and an input', async (t) => {
  const seen: Request[] = [];
  const outputs = { 'out-data': base64('out\n'), 'err-data': base64('err\n') };
  const path = await serveLines(t, ending({ exitcode: 3, ...outputs }, seen));
  const agent = await GuestAgent.connect(path, 10_000, signal);
  t.teardown(() => agent.close());
  const result = await agent.exec(['cat', '-'], { timeoutMs: 2_500, input: 'in' }, signal);
  t.same(result, { stdout: 'out', stderr: 'err', exitCode: 3 });
  const { env, ...others } = seen[0]?.arguments ?? {};
  t.match(env, [/^PATH=.*:\/usr\/bin:/, 'HOME=/root', /^LANG=/, /^TERM=/], 'and nothing else');
  t.same(others, {
    path: '/usr/bin/timeout',
    arg: ['--signal=KILL', '2.5', 'cat', '-'],
    'input-data': base64('in'),
    'capture-output': true,
  });
});

for (const status of [{ exitcode: 137 }, { signal: 9 }]) {
  t.test(`a program that ends with ${JSON.stringify(status)} was too slow`, async (t) => {
    const path = await serveLines(t, ending({ ...status, 'err-data': base64('still at it') }));
    const agent = await GuestAgent.connect(path, 10_000, signal);
    t.teardown(() => agent.close());
    const failed = { kind: 'deadline', message: /sleep 9.*within 1s.*still at it/ };
    await t.rejects(agent.exec(['sleep', '9'], { timeoutMs: 1_000 }, signal), failed);
  });
}

t.test('an output that was cut off is never taken for the whole', async (t) => {
  const path = await serveLines(t, ending({ exitcode: 0, 'out-truncated': true }));
  const agent = await GuestAgent.connect(path, 10_000, signal);
  t.teardown(() => agent.close());
  await t.rejects(agent.exec(['cat', 'large'], { timeoutMs: 1_000 }, signal), {
    message: /cat large/,
  });
});
