import t, { type Test } from 'tap';
import { standaloneKubelet as kubelet } from '../../../../agents/steps/kubelet.ts';
import { testHost } from '../host/host.ts';
import { endPauses } from '../host/timers.ts';

const SYSTEMCTL = 'echo ActiveState=activating; echo NRestarts=2';

/** A request to the kubelet's health endpoint: its URL and abort signal. */
interface Question {
  readonly url: string;
  readonly signal: AbortSignal;
  /** Its response body was discarded, which frees the connection. */
  isFreed?: true;
}

/** Answers of the kubelet's health endpoint, one per request; the last one is repeated. */
function health(t: Test, ...answers: (number | 'refused' | 'nothing')[]): Question[] {
  const asked: Question[] = [];
  t.capture(globalThis, 'fetch', async (url: string, { signal }: Question) => {
    const question: Question = { url, signal };
    asked.push(question);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === 'nothing') {
      await new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    }
    if (typeof answer !== 'number') throw new TypeError('fetch failed');
    const cancel = () => {
      question.isFreed = true;
    };
    return new Response(new ReadableStream({ cancel }), { status: answer });
  });
  return asked;
}

t.test('kubelet', async (t) => {
  t.test('is started with its new unit and answers', async (t) => {
    const it = testHost(t);
    it.programs.give('systemctl', SYSTEMCTL);
    const asked = health(t, 'refused', 500, 200);
    const pauses = endPauses(t, 5000);
    t.same(await it.run(kubelet), { kind: 'done' });
    t.same(it.programs.calls().slice(0, 2), [
      'systemctl daemon-reload',
      'systemctl start --no-block kubelet.service',
    ]);
    t.match(it.lines.join(''), /kubelet\.service is activating, restarted 2 times/);
    // Its default address, which no configuration changes.
    t.same(
      asked.map(({ url }) => url),
      Array(3).fill('http://127.0.0.1:10248/healthz'),
    );
    t.same(
      asked.map(({ isFreed }) => isFreed),
      [undefined, true, true],
    );
    t.equal(pauses.filter((ms) => ms >= 100).length, 2, 'a pause after each no');
    t.equal(await it.holds(kubelet), true);
  });

  t.test('requires no unit that only a node has', async (t) => {
    const it = testHost(t);
    it.programs.give(
      'systemctl',
      `case "$2" in
        kubelet.service) echo ActiveState=inactive; echo NRestarts=0 ;;
        *) echo ActiveState=failed ;;
      esac`,
    );
    health(t, 'refused', 'refused', 200);
    endPauses(t, 5000);
    t.same(await it.run(kubelet), { kind: 'done' });
  });

  for (const answer of ['refused', 500] as const) {
    t.test(`does not hold: ${answer}`, async (t) => {
      const it = testHost(t);
      health(t, answer);
      t.equal(await it.holds(kubelet), false);
    });
  }

  t.test('a kubelet that hangs counts as unhealthy', async (t) => {
    const it = testHost(t);
    health(t, 'nothing');
    const limits = t.capture(AbortSignal, 'timeout', () => AbortSignal.abort(new Error('late')));
    t.equal(await kubelet.holds(it.context, it.progress(new AbortController().signal)), false);
    t.ok(limits().every(({ args: [ms = 0] }) => Number(ms) >= 1000 && Number(ms) <= 10_000));
  });

  t.test('is not awaited after the step is told to stop', async (t) => {
    const it = testHost(t);
    it.programs.give('systemctl', SYSTEMCTL);
    const [stop, asked] = [new AbortController(), health(t, 'nothing')];
    t.capture(AbortSignal, 'timeout', () => new AbortController().signal);
    const running = kubelet.run(it.context, it.progress(stop.signal));
    await it.said(/Waiting for the kubelet to answer/);
    stop.abort(new Error('told to stop'));
    await t.rejects(running);
    t.equal(asked.length, 1);
  });

  t.test('systemd refuses', async (t) => {
    const it = testHost(t);
    health(t, 'refused');
    it.programs.give('systemctl', 'echo "Unit kubelet.service not found" >&2; exit 5');
    t.match(await it.failureOf(kubelet), { kind: 'retry', message: /not found/ });
  });
});
