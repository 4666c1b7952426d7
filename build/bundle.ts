import { join } from 'node:path';
import { build } from 'esbuild';
import { ownSources } from './own-sources.ts';

export interface BundleOptions {
  /** Absolute path of the TypeScript entry. */
  entry: string;
  /** Constants that the code declares and the build knows; each becomes a string literal. */
  constants: Readonly<Record<string, string>>;
  /** The folder that its modules are named from; this checkout, if undefined. */
  root?: string | undefined;
  /** The one agent to keep in the table of agents; all, if undefined. */
  agent?: string | undefined;
}

export interface Bundle {
  code: Buffer;
  /** Absolute paths of the files of this project that it was made of. */
  sources: string[];
  /** Bytes in the bundle by the path of each input, `node_modules/<package>/…` for packages. */
  bytesByInput: Record<string, number>;
}

/** Oldest Node that runs a bundle: the one that is inside the executable. */
const TARGET = 'node24';
const checkout = join(import.meta.dirname, '..');

/** The code alone, see `bundleWithInputs`. */
export async function bundle(options: BundleOptions): Promise<Buffer> {
  return (await bundleWithInputs(options)).code;
}

/**
 * One CommonJS file with nothing left to import but Node's own modules. It is ASCII: what is
 * not is escaped. The same input gives the same bytes in every folder.
 * Throws with esbuild's messages, already printed.
 */
export async function bundleWithInputs(options: BundleOptions): Promise<Bundle> {
  const { entry, constants, agent, root = checkout } = options;
  const sources = new Set<string>();
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: checkout,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: TARGET,
    format: 'cjs',
    // There is no folder to load anything from: what is left of import() becomes require().
    supported: { 'dynamic-import': false },
    // Names stay and lines are short, so that an error in a host's journal can be read.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'none',
    define: Object.fromEntries(
      Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
    plugins: [ownSources({ root, target: TARGET, agent, onInput: (path) => sources.add(path) })],
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  if (file === undefined || output === undefined)
    throw new Error(`esbuild made nothing of ${entry}`);
  return {
    code: Buffer.from(file.contents),
    sources: [...sources].toSorted(),
    bytesByInput: Object.fromEntries(
      Object.entries(output.inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput]),
    ),
  };
}
