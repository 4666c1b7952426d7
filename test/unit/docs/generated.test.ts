/** docs/reference/ is what the code says now. */
import t from 'tap';
import { generatedDocuments } from '../../../docs/generate.ts';
import { read } from './documents.ts';

t.test('generated documents match the code', async (t) => {
  for (const { path, contents } of await generatedDocuments(AbortSignal.timeout(40_000))) {
    t.equal(read(path), contents, `${path}: run node build/launch.mjs docs/generate.ts`);
  }
});
