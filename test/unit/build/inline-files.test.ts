import t from 'tap';
import { bundle } from '../../../build/bundle.ts';
import { InlineError, inlineFiles } from '../../../build/inline-files.ts';

const at = new URL('file:///src/lib/module.ts');
const readText = async (file: URL) => `text of ${file.pathname} with "quotes" and \n lines`;
const bundleThread = async (file: URL) => `code of ${file.pathname}`;
const beside = { readText, bundleThread };

t.test('a read beside the source becomes the text of the file', async (t) => {
  const layouts = {
    'on one line': `const x = readFileSync(new URL('../units/a.service', import.meta.url), 'utf8');`,
    'as the formatter breaks it': `const x = readFileSync(
  new URL('../units/a.service', import.meta.url),
  'utf8',
);`,
    'with other quotes': `const x = readFileSync(new URL("../units/a.service", import.meta.url), "utf-8");`,
  };
  for (const [layout, source] of Object.entries(layouts)) {
    const result = await inlineFiles(source, at, beside);
    const expected = JSON.stringify(await readText(new URL('file:///src/units/a.service')));
    t.equal(result, `const x = ${expected};`, layout);
  }
});

t.test('a thread evaluates the bundle of its file', async (t) => {
  const source = `new Worker(new URL('./thread.ts', import.meta.url), {\n  name: 'x',\n});`;
  t.equal(
    await inlineFiles(source, at, beside),
    `new Worker("code of /src/lib/thread.ts", { eval: true,\n  name: 'x',\n});`,
  );
});

t.test('each of several reads gets its own text, and the rest is unchanged', async (t) => {
  const source = [
    'before();',
    `const a = readFileSync(new URL('./a', import.meta.url), 'utf8');`,
    `const b = readFileSync(new URL('./b', import.meta.url), 'utf8');`,
    'after();',
  ].join('\n');
  const result = await inlineFiles(source, at, {
    ...beside,
    readText: async (file) => file.pathname,
  });
  t.equal(result, 'before();\nconst a = "/src/lib/a";\nconst b = "/src/lib/b";\nafter();');
});

t.test('expressions without a value in the executable are refused', async (t) => {
  const sources = {
    'a path that is not a literal': `readFileSync(new URL(name, import.meta.url), 'utf8')`,
    'a read of bytes': `readFileSync(new URL('./a', import.meta.url))`,
    'the place of the source': 'const here = import.meta.dirname;',
  };
  for (const [what, source] of Object.entries(sources)) {
    await t.rejects(inlineFiles(source, at, beside), InlineError, what);
  }
});

t.test('a bundle runs without its files', async (t) => {
  const folder = t.testdir({
    'note.txt': 'the note',
    'main.ts': `import { readFileSync } from 'node:fs';
      declare const __NAME__: string;
      const note: string = readFileSync(new URL('./note.txt', import.meta.url), 'utf8');
      export const result = note + __NAME__;`,
  });
  const code = await bundle({ entry: `${folder}/main.ts`, constants: { __NAME__: 'of build' } });
  const module = { exports: { result: '' } };
  new Function('module', 'exports', 'require', code.toString())(module, module.exports, () => ({}));
  t.equal(module.exports.result, 'the noteof build');
});
