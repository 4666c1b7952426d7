/** A payload whose files are compressed on a medium, and not on a host. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { copyPayloadTo, copyStoredTo } from '../../../lib/payload/copy.ts';
import { payloadPath, readPayload } from '../../../lib/payload/payload.ts';
import { payloadSize } from '../../../lib/payload/size.ts';
import { verifyPayload } from '../../../lib/payload/verify.ts';
import { freshFolder } from '../../unit/engine/steps/fresh-folder.ts';
import { killedAtAnyMoment } from '../../unit/engine/steps/killed-at-any-moment.ts';
import { compressPayloadIn } from '../../unit/payload/compressed.ts';
import { description, FILES } from './bringing-host.ts';

const { signal } = new AbortController();

function medium(folder: string): { medium: string; target: string } {
  const path = join(folder, 'medium');
  for (const [name, text] of Object.entries({ ...FILES, 'payload.yaml': description() })) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  compressPayloadIn(path);
  const target = join(folder, 'target');
  mkdirSync(target);
  return { medium: path, target };
}
const mediumIn = (t: Test) => medium(t.testdir());

const contentsOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );
const described = (folder: string) => readFileSync(join(folder, 'payload.yaml'), 'utf8');

t.test('a host gets the files themselves, and the same description', async (t) => {
  const { medium, target } = mediumIn(t);
  const plain = Object.values(FILES).join('').length;
  t.same(await payloadSize(medium), { bytes: plain, isCompressed: true });
  await copyPayloadTo(await readPayload(medium), target, signal);
  const expected = { ...FILES, 'payload.yaml': described(medium) };
  t.same(contentsOf(target), expected);
  await verifyPayload(await readPayload(target), signal);

  // As the live host does, whose medium may be slow.
  const disk = `${target}-disk`;
  rmSync(medium, { recursive: true });
  await copyPayloadTo(await readPayload(target), disk, signal);
  t.same(contentsOf(disk), expected);
});

t.test('a server gets what the laptop has', async (t) => {
  const { medium, target } = mediumIn(t);
  await copyStoredTo(await readPayload(medium), target, signal);
  t.same(contentsOf(target), contentsOf(medium));
});

t.test('whatever interrupts it, the next attempt has the same result', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => medium(freshFolder(t)),
    run: async ({ medium, target }) => copyPayloadTo(await readPayload(medium), target, signal),
    allowed: ({ target }, when) => {
      const found = contentsOf(target);
      for (const [path, text] of Object.entries(FILES)) {
        if (path in found) t.equal(found[path], text, `${when}: ${path} is whole or not there`);
      }
      const isWhole = Object.keys(FILES).every((path) => path in found);
      t.ok(isWhole || !('payload.yaml' in found), `${when}: described once all is there`);
    },
    result: ({ target }) => contentsOf(target),
    least: 15,
    isDurable: true,
    isConcurrent: true,
  });
});

t.test('a cut file of the medium is refused before anything is copied', async (t) => {
  const { medium, target } = mediumIn(t);
  writeFileSync(join(medium, 'bin/kubelet.zst'), 'cut');
  const payload = await readPayload(medium);
  await t.rejects(copyPayloadTo(payload, target, signal), {
    code: 'payload-damaged',
    message: /payload file bin\/kubelet\.zst is damaged; expected \d+ bytes; found 3/,
  });
  rmSync(join(medium, 'bin/kubelet.zst'));
  await t.rejects(copyPayloadTo(payload, target, signal), {
    message: /does not contain bin\/kubelet\.zst/,
  });
  await t.rejects(payloadSize(medium), { message: /does not contain bin\/kubelet\.zst/ });
  await t.rejects(payloadPath(payload, 'bin/kubelet'), { message: /does not contain/ });
  t.same(readdirSync(target), []);
});
