import { join } from 'node:path';
import { build } from 'esbuild';
import { ownSources } from './own-sources.ts';

export interface BundleOptions {
  /** Absolute path of the TypeScript entry. */
  entry: string;
  /** Constants declared in the code and set by the build; each becomes a string literal. */
  constants: Readonly<Record<string, string>>;
  /** The folder that module names are relative to. Default: this checkout. */
  root?: string | undefined;
  /** The single agent to keep in the table of agents; undefined: all. */
  agent?: string | undefined;
}

export interface Bundle {
  code: Buffer;
  /** Absolute paths of the project's files in it. */
  sources: string[];
  /** Bytes in the bundle by input path, `node_modules/<package>/…` for packages. */
  bytesByInput: Record<string, number>;
}

/** Oldest Node that must run a bundle: the one inside the executable. */
const TARGET = 'node24';
const checkout = join(import.meta.dirname, '..');

/** The code only, see `bundleWithInputs`. */
export async function bundle(options: BundleOptions): Promise<Buffer> {
  return (await bundleWithInputs(options)).code;
}

/**
 * One CommonJS file that imports only Node's own modules. It is ASCII: other characters are
 * escaped. The same input produces the same bytes in every folder.
 * Throws with esbuild's messages, already printed.
 */
export async function bundleWithInputs(options: BundleOptions): Promise<Bundle> {
  const { entry, constants, agent, root = checkout } = options;
  const sources = new Set<string>();
  const onInput = (path: string) => sources.add(path);
  const bundleThread = async (path: string) => {
    const thread = await bundleWithInputs({ entry: path, constants, root });
    thread.sources.forEach(onInput);
    return thread.code.toString('latin1');
  };
  const { outputFiles, metafile } = await build({
    // Not as the entry point itself, whose "use strict" esbuild would write above all modules: it breaks packages
    // that are not strict.
    stdin: { contents: `module.exports = require(${JSON.stringify(entry)})`, resolveDir: checkout },
    absWorkingDir: checkout,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: TARGET,
    format: 'cjs',
    // Its CommonJS is UMD, whose require() esbuild does not see.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    // Package debug colours its lines with it where it is installed, and works without.
    external: ['supports-color'],
    // There is no folder to load modules from: remaining import() calls become require().
    supported: { 'dynamic-import': false },
    // Names are kept and lines are short, so that stack traces in a host's journal are readable.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'none',
    define: Object.fromEntries(
      Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
    plugins: [ownSources({ root, target: TARGET, agent, onInput, bundleThread })],
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  if (file === undefined || output === undefined)
    throw new Error(`esbuild produced no output for ${entry}`);
  return {
    code: Buffer.from(file.contents),
    sources: [...sources].toSorted(),
    bytesByInput: Object.fromEntries(
      Object.entries(output.inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput]),
    ),
  };
}
