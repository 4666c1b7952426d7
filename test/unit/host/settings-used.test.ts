/** Each setting changes what an agent does: a deadline of its plans, or what a source reads. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { defaultSettings } from '../../../lib/host/settings.ts';

const root = join(import.meta.dirname, '../../..');
const sources = globSync('{agents,lib}/**/*.ts', { cwd: root })
  .filter((path) => !path.startsWith('lib/host/settings'))
  .map((path) => readFileSync(join(root, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));

t.test('every setting is read', async (t) => {
  for (const name of Object.keys(defaultSettings)) {
    const word = new RegExp(`\\b${name}\\b`);
    t.ok(
      sources.some((text) => word.test(text)),
      name,
    );
  }
});
