import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { root, sourcesIn } from './source.ts';

/** Types and classes; functions have short names where their module says of what. */
const EXPORTED =
  /^export (?:abstract )?(?:class|interface|type) (?<name>\w+)|^export const (?<step>\w+): StepBody</gm;

t.test('a name of a type or a step has one meaning', async (t) => {
  const places = sourcesIn('{lib,agents,cli,report,units}/**/*.ts').flatMap((file) =>
    Array.from(readFileSync(join(root, file), 'utf8').matchAll(EXPORTED), ({ groups }) => ({
      file,
      name: groups?.name ?? groups?.step,
    })),
  );
  t.ok(places.length > 1000, `${places.length} names`);
  const twice = [...Map.groupBy(places, ({ name }) => name)]
    .map(([name, at]) => `${name}: ${[...new Set(at.map(({ file }) => file))].join(', ')}`)
    .filter((line) => line.includes(','));
  t.strictSame(twice, []);
});
