/** When a sealed host asks its factory's URL, and which of its answers are news. */
import t from 'tap';
import {
  isDue,
  isSameAnswer,
  lastAsked,
  noteAnswer,
  noteQuestion,
} from '../../../../agents/reconfigure/asked.ts';
import { bootMoment } from '../../../../lib/host/boot.ts';
import { factoryHost } from './site-host.ts';

const URL = 'https://factory.test/sn-1.site';

t.test('at most one question in five minutes of the boot', async (t) => {
  const { up } = await bootMoment();
  t.equal(await isDue(undefined), true);
  for (const [ago, due] of [
    [0, false],
    [200, false],
    [301, true],
    [86_400, true],
  ] as const) {
    t.equal(await isDue({ url: URL, up: up - ago }), due, `${ago} s`);
  }
});

t.test('what is known of a URL', async (t) => {
  const host = await factoryHost(t);
  const { paths } = host;
  t.equal(await lastAsked(paths, URL), undefined);
  await noteQuestion(paths, URL);
  t.equal(await isDue(await lastAsked(paths, URL)), false);
  await noteAnswer(paths, URL, { answer: 'none' });
  await noteAnswer(paths, URL, { judged: 'abc' });
  await noteQuestion(paths, URL);
  t.match(await lastAsked(paths, URL), { answer: 'none', judged: 'abc' });
  t.equal(await lastAsked(paths, `${URL}x`), undefined, 'another URL was not asked');
  const asked = '/run/sno-agents/reconfigure/asked.json';
  t.ok(host.has(asked));
  host.write(asked, 'damaged');
  t.equal(await lastAsked(paths, URL), undefined);
});

t.test('an answer that differs in its time only is the same', async (t) => {
  for (const [one, other, same] of [
    ['timed out after 30001 milliseconds', 'timed out after 30002 milliseconds', true],
    ['no route after 3 ms: none', 'no route after 12 ms: none', true],
    ['error: 404', 'error: 404', true],
    ['error: 404', 'error: 503', false],
    [undefined, 'error: 404', false],
    [undefined, undefined, false],
  ] as const) {
    t.equal(isSameAnswer(one, other), same, `${one} ${other}`);
  }
});
