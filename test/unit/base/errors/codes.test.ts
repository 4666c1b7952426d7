import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FAILURE_CODES, isFailureCode } from '../../../../lib/base/errors/codes.ts';
import { rules } from '../../../../report/rules.ts';
import { root, sourcesIn } from '../../structure/source.ts';

/** Default codes of the failure kinds (lib/base/errors/failure.ts). */
const GENERAL = ['unavailable', 'usage', 'deadline', 'refused', 'bug', 'error'];

const raised = new Set(
  sourcesIn('{agents,lib,cli}/**/*.ts')
    .filter((file) => file !== 'lib/base/errors/codes.ts')
    .flatMap((file) =>
      Array.from(
        readFileSync(join(root, file), 'utf8').matchAll(/\b(?:code: |failureCode = )'([a-z-]+)'/g),
        ([, code = '']) => code,
      ),
    ),
);

t.test('every code of the catalog is raised somewhere', async (t) => {
  for (const code of Object.keys(FAILURE_CODES)) {
    t.ok(GENERAL.includes(code) || raised.has(code), `${code} is raised`);
  }
});

t.test('every rule reads codes that exist and are raised', async (t) => {
  const read = rules.flatMap(({ name, codes = [] }) => codes.map((code) => ({ name, code })));
  t.ok(read.length > 10, 'rules name their codes');
  for (const { name, code } of read) {
    t.ok(isFailureCode(code) && raised.has(code), `${name} reads ${code}`);
  }
});

t.test("no rule depends on an agent's wording", async (t) => {
  for (const file of sourcesIn('report/rules/*.ts')) {
    const source = readFileSync(join(root, file), 'utf8');
    t.notMatch(
      source,
      /(?:what|message|factsOf\([^)]*\))\s*(?:\.(?:match|matchAll|startsWith|includes)\()|\.test\((?:failure|what)/,
      file,
    );
  }
});
