/** What a person types before a host is changed: "yes", at a terminal. */
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { confirm } from '../../../lib/change/confirm.ts';

/** Asks somebody who types that; `isTTY`: at a terminal. */
async function answered(t: Test, text: string, isTTY: boolean) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stdout = new PassThrough();
  for (const [name, value] of Object.entries({ stdin, stdout })) {
    const original = Reflect.getOwnPropertyDescriptor(process, name);
    if (original === undefined) throw new Error(`no ${name}`);
    Object.defineProperty(process, name, { ...original, get: () => value });
    t.teardown(() => Object.defineProperty(process, name, original));
  }
  stdin.end(text);
  await confirm('take it back', 'the way back');
  return String(stdout.read());
}

t.test('"yes" at a terminal, and nothing else', async (t) => {
  for (const text of ['yes\n', ' yes \n']) {
    await t.test(JSON.stringify(text), async (t) => {
      t.equal(await answered(t, text, true), 'Type "yes" to take it back: ');
    });
  }
  for (const [text, isTTY] of [
    ...(['y\n', 'no\n', '\n', 'YES\n', 'yes please\n'] as const).map(
      (each) => [each, true] as const,
    ),
    ['yes\n', false],
  ] as const) {
    await t.test(`${JSON.stringify(text)}, ${isTTY}`, async (t) => {
      await t.rejects(answered(t, text, isTTY), {
        kind: 'usage',
        message: 'the way back was not confirmed. Add --yes.',
      });
    });
  }
});
