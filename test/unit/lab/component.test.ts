import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  type Component,
  componentKey,
  ensureComponent,
} from '../../../lab/components/component.ts';

const options = () => ({ signal: AbortSignal.timeout(10_000), report: () => undefined });

/** Components are built in the test's own cache. Returns a recipe folder. */
async function recipeFolder(t: Test): Promise<string> {
  const folder = t.testdir({ cache: {}, recipe: { below: { file: 'one' } } });
  const before = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = join(folder, 'cache');
  t.teardown(() => {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
  });
  return join(folder, 'recipe');
}

t.test('the key depends on the version, the recipe and the needed components', async (t) => {
  const recipe = await recipeFolder(t);
  const build = async () => undefined;
  const component: Component = { name: 'a', version: '1', recipe: [recipe], build };
  const key = await componentKey(component);
  t.match(key, /^1-[0-9a-f]{12}$/);
  t.equal(await componentKey(component), key, 'the same again');
  t.not(await componentKey({ ...component, needs: [{ ...component, version: '2' }] }), key);
  await writeFile(join(recipe, 'below/file'), 'two');
  t.not(await componentKey(component), key, 'a changed file');
});

t.test('a component is built once, with what it needs, and moved into place', async (t) => {
  const recipe = [await recipeFolder(t)];
  let builds = 0;
  const base: Component = {
    name: 'built-base',
    version: '1',
    recipe,
    build: (target) => writeFile(join(target, 'base'), 'base'),
  };
  const component: Component = {
    name: 'built',
    version: '1',
    recipe,
    needs: [base],
    build: async (target, { folderOf }) => {
      builds += 1;
      await writeFile(join(target, 'copy'), await readFile(join(folderOf(base), 'base')));
    },
  };
  const [folder] = await Promise.all([
    ensureComponent(component, options()),
    ensureComponent(component, options()),
  ]);
  t.equal(await readFile(join(folder, 'copy'), 'utf8'), 'base');
  t.equal(builds, 1);
});

t.test(
  'one that shares libraries with another is built after it, and does not depend on it',
  async (t) => {
    const recipe = [await recipeFolder(t)];
    const order: string[] = [];
    const recorded = (name: string, more: Partial<Component> = {}): Component => ({
      name,
      version: '1',
      recipe,
      build: async () => void order.push(name),
      ...more,
    });
    const first = recorded('compiled-first');
    const second = recorded('compiled-second', { after: [first] });
    await ensureComponent(second, options());
    t.same(order, ['compiled-first', 'compiled-second']);
    t.equal(await componentKey(second), await componentKey({ ...second, after: [] }));
  },
);

t.test('a failed build leaves nothing that looks finished', async (t) => {
  const recipe = [await recipeFolder(t)];
  const component: Component = {
    name: 'broken',
    version: '1',
    recipe,
    build: async (target) => {
      await writeFile(join(target, 'half'), '');
      throw new Error('no compiler');
    },
  };
  await t.rejects(ensureComponent(component, options()), { message: 'no compiler' });
  const parent = join(process.env.XDG_CACHE_HOME ?? '', 'sno-agents/components/broken');
  t.same(await readdir(parent), []);
});
