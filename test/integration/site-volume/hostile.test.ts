/** Media of strangers: every one is refused with its reason, and nothing is written anywhere. */
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { openVolume } from '../../../lib/relocation/site-volume/open-volume.ts';
import { encrypterTo, facts, rules, signal } from '../../unit/relocation/site-volume/volumes.ts';
import { hostileContents } from './hostile-contents.ts';
import { hostileMedia } from './hostile-media.ts';
import { makeMedia } from './media.ts';

const base = t.testdir();
const media = await makeMedia(base);
const { medium, node, strict } = media;
const isRoot = process.getuid?.() === 0;

for (const { name, volume, change, rules: different, found } of [
  ...hostileMedia(media),
  ...hostileContents(media),
]) {
  t.test(name, { skip: name === 'a device' && !isRoot && 'not root' }, async (t) => {
    const folder = await medium(name, volume);
    await change?.(folder);
    const before = readdirSync(base, { recursive: true });
    const error = await openVolume(
      folder,
      rules({ ...strict, ...different }),
      join(base, 'work'),
      signal,
    ).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Failure)) {
      t.fail(`not refused: ${String(error)}`);
      return;
    }
    t.match(error.message, found);
    t.match(error.kind, 'usage', 'exit code 2');
    t.match(error.code, /^site-(volume|config)-refused$/);
    t.notMatch(error.message, /PRIVATE KEY-----\n|AGE-SECRET/);
    t.same(readdirSync(base, { recursive: true }), before, 'nothing is written');
    t.notOk(existsSync(join(base, 'work')));
  });
}

t.test('the same media without their faults are used', async (t) => {
  for (const volume of [
    {},
    { encrypter: encrypterTo(node.recipient) },
    { hosts: facts.identifiers },
  ]) {
    const folder = await medium(`good ${JSON.stringify(volume).length}`, volume);
    const opened = await openVolume(folder, rules(strict), join(base, 'work'), signal);
    t.match(opened.signedBy, /^SHA256:/);
    const copy = `${folder}-copy`;
    cpSync(folder, copy, { recursive: true });
    t.ok(await openVolume(copy, rules(strict), join(base, 'work'), signal));
  }
});
