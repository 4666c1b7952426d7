import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { writeProgramImage } from '../../../../lib/payload/image/write.ts';

async function entriesOf(input: Readable): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  for await (const entry of input.pipe(extract())) {
    entries.set(entry.header.name, await text(entry));
  }
  return entries;
}

const manifestSchema = z.tuple([
  z.object({ Config: z.string(), RepoTags: z.array(z.string()), Layers: z.array(z.string()) }),
]);

t.test('an archive has one layer, named by its digest, and is reproducible', async (t) => {
  const folder = t.testdir({ program: 'binary' });
  const image = {
    reference: 'registry.lab/program:1',
    architecture: 'arm64' as const,
    files: [{ path: 'usr/local/bin/program', source: join(folder, 'program') }],
    entrypoint: ['/usr/local/bin/program'],
  };
  const signal = AbortSignal.timeout(10_000);
  const id = await writeProgramImage(join(folder, 'a.tar'), image, signal);
  await writeProgramImage(join(folder, 'b.tar'), image, signal);
  t.same(await readFile(join(folder, 'a.tar')), await readFile(join(folder, 'b.tar')));

  const archive = await entriesOf(createReadStream(join(folder, 'a.tar')));
  const [manifest] = manifestSchema.parse(JSON.parse(archive.get('manifest.json') ?? ''));
  t.same(manifest.RepoTags, ['registry.lab/program:1']);
  const layer = archive.get(manifest.Layers[0] ?? '') ?? '';
  t.equal([...archive.keys()][0], 'manifest.json', 'readers need not pass over the layer');
  t.equal(id, `sha256:${manifest.Config.replace('.json', '')}`);
  const config: unknown = JSON.parse(archive.get(manifest.Config) ?? '');
  const diffId = `sha256:${createHash('sha256').update(layer).digest('hex')}`;
  t.match(config, {
    architecture: 'arm64',
    rootfs: { diff_ids: [diffId] },
    config: { Entrypoint: image.entrypoint },
  });

  const files = await entriesOf(Readable.from([Buffer.from(layer)]));
  t.equal(files.get('usr/local/bin/program'), 'binary');
  t.ok(files.has('tmp'));
  t.match(files.get('etc/passwd'), /^root:x:0:0:/);
});
