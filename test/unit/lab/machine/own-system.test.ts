import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { LIVE_ISO } from '../../../../lab/components/live-iso.ts';
import { OS_IMAGE } from '../../../../lab/components/os-image.ts';
import { ownSystem, requireFiles } from '../../../../lab/own-system.ts';

const { signal } = new AbortController();

t.test('files of a system of one’s own stand where the lab has its own', async (t) => {
  const folder = t.testdir({ 'coreos.iso': 'the ISO', 'metal.raw.xz': 'the image' });
  const given = { liveIso: join(folder, 'coreos.iso'), osImage: join(folder, 'metal.raw.xz') };
  const { liveIso = '', osImage = '', imageSource } = await ownSystem(given, folder, signal);
  t.equal(await readFile(join(liveIso, LIVE_ISO), 'utf8'), 'the ISO');
  t.equal(await readFile(join(osImage, OS_IMAGE), 'utf8'), 'the image');
  t.equal(imageSource, 'served');
});

t.test('a live ISO alone installs what it has with it', async (t) => {
  const folder = t.testdir({ 'coreos.iso': 'the ISO' });
  const own = await ownSystem({ liveIso: join(folder, 'coreos.iso') }, folder, signal);
  t.equal(own.imageSource, 'of the live system');
  t.notOk(own.osImage);
});

t.test('without any, the lab’s ISO has the image', async (t) => {
  t.same(await ownSystem({}, t.testdir(), signal), { imageSource: 'on the ISO' });
});

t.test('what is not a file is refused by its option', async (t) => {
  const folder = t.testdir();
  const none = join(folder, 'none');
  await t.rejects(requireFiles({ liveIso: none }), {
    kind: 'usage',
    message: `--live-iso ${none} is not a file`,
  });
  await t.rejects(requireFiles({ osImage: folder }), {
    kind: 'usage',
    message: `--os-image ${folder} is not a file`,
  });
  const file = join(folder, 'a.iso');
  await writeFile(file, '');
  await t.resolves(requireFiles({ liveIso: file }));
});
