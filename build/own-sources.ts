import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OnLoadResult, type Plugin, transform } from 'esbuild';
import { inlineFiles } from './inline-files.ts';
import { lazyImports, USED } from './lazy-imports.ts';

/** The table of agents; a single-agent executable keeps one line of it. */
const AGENT_TABLE = { path: /(^|\/)agents\/agents\.ts$/, object: 'agents' };

export interface OwnSourcesOptions {
  /** The folder that names in the bundle are relative to, so that it contains no local paths. */
  root: string;
  target: string;
  /** The single agent to keep; undefined: all. */
  agent?: string | undefined;
  /** Called with the path of every bundled file except packages. */
  onInput(path: string): void;
  /** The bundle of a thread, by the absolute path of its first module. */
  bundleThread(path: string): Promise<string>;
}

/**
 * Loads the project's TypeScript: relative files inlined, imports lazy. The modules are in a
 * separate namespace, where esbuild treats them as the CommonJS they have become, whatever
 * package.json says.
 */
export function ownSources({
  root,
  target,
  agent,
  onInput,
  bundleThread,
}: OwnSourcesOptions): Plugin {
  const load = async (file: string): Promise<OnLoadResult> => {
    const read = (path: string) => {
      onInput(path);
      return readFile(path, 'utf8');
    };
    const source = await inlineFiles(await read(file), new URL(`file://${file}`), {
      readText: (url) => read(fileURLToPath(url)),
      bundleThread: (url) => bundleThread(fileURLToPath(url)),
    });
    const { code } = await transform(source, { loader: 'ts', format: 'esm', target });
    const isTable = agent !== undefined && AGENT_TABLE.path.test(file);
    const only = isTable ? { object: AGENT_TABLE.object, property: agent } : undefined;
    return { contents: await lazyImports(code, only), loader: 'js', resolveDir: dirname(file) };
  };

  return {
    name: 'own-sources',
    setup(build) {
      build.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path);
        return { path: relative(root, file), namespace: 'own', pluginData: file };
      });
      build.onLoad({ filter: /./, namespace: 'own' }, async ({ pluginData: file }) => {
        try {
          return await load(file);
        } catch (error) {
          const text = error instanceof Error ? error.message : String(error);
          return { errors: [{ text, location: { file } }] };
        }
      });

      build.onResolve({ filter: new RegExp(`^${USED}`) }, ({ path, resolveDir, importer }) => ({
        path: `${path.slice(USED.length)} for ${importer}`,
        namespace: 'used',
        pluginData: { written: path.slice(USED.length), resolveDir },
      }));
      build.onLoad({ filter: /./, namespace: 'used' }, ({ pluginData }) => {
        const { written, resolveDir } = pluginData;
        const [names, name] = written.split(/:(.*)/);
        return { contents: `export { ${names} } from ${JSON.stringify(name)};`, resolveDir };
      });
    },
  };
}
