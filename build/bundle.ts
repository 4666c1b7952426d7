import { build } from 'esbuild';
import { inlineFilesPlugin } from './inline-files.ts';

export interface BundleOptions {
  /** Absolute path of the TypeScript entry. */
  entry: string;
  /** Constants that the code declares and the build knows; each becomes a string literal. */
  constants: Readonly<Record<string, string>>;
}

/** Oldest Node that runs a bundle: the one that is inside the executable. */
const TARGET = 'node24';

/**
 * One CommonJS file (what a single-executable application's main must be), with nothing
 * left to import but Node's own modules. Throws with esbuild's messages, already printed.
 */
export async function bundle({ entry, constants }: BundleOptions): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    target: TARGET,
    format: 'cjs',
    // Names stay and lines are short, so that an error in a host's journal can be read.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    keepNames: true,
    legalComments: 'none',
    define: Object.fromEntries(
      Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
    plugins: [inlineFilesPlugin()],
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`esbuild made no output of ${entry}`);
  return Buffer.from(file.contents);
}
