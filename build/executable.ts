import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { type Architecture, layBaseNode, NODE_VERSION } from './base-node.ts';
import { bundle } from './bundle.ts';
import { codeCache } from './code-cache.ts';
import { fileDigest } from './digest.ts';
import type { PackRequest } from './pack.ts';
import { wrapped } from './program.ts';

const PACK_DEADLINE_MS = 2 * 60_000;

/**
 * How Node starts inside the executable: no external input becomes code in a daemon that runs as
 * root. `execArgvExtension: 'none'` disables NODE_OPTIONS; SIGUSR1 opens no debugger; no OpenSSL
 * configuration, from OPENSSL_CONF or Node's built-in path, can load a library.
 */
const SEA_CONFIG = {
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  useCodeCache: false,
  execArgv: ['--disable-sigusr1', '--openssl-config=/dev/null'],
  execArgvExtension: 'none',
};

export interface ExecutableOptions {
  /** The bundled program: one CommonJS file. */
  code: Buffer;
  /** Licence texts of everything in it; printed by `licenses`. */
  licenses: string;
  arch: Architecture;
  /** Path of the executable; replaced atomically when complete. */
  output: string;
  /** Folder for data that the build caches between runs. */
  workDir: string;
  /** Argument lists that the program is run with during the build, to compile its start-up code. */
  warmUp: readonly (readonly string[])[];
  /** Options of V8, also used to produce the compiled code: V8 accepts it only with the same ones. */
  v8Flags: readonly string[];
}

/**
 * Builds a standalone executable from a bundle with pkg, and returns its SHA-256. The same bundle
 * produces the same bytes wherever it is built. Compiled code is only included for the
 * processor of the build: V8 rejects that of another.
 */
export async function makeExecutable(
  { code, licenses, arch, output, workDir, warmUp, v8Flags }: ExecutableOptions,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(dirname(output), { recursive: true });
  await mkdir(workDir, { recursive: true });
  const node = await layBaseNode(arch, workDir, signal);
  const folder = await mkdtemp(join(workDir, `${basename(output)}-`));
  try {
    const program = join(folder, 'program');
    await writeFile(program, wrapped(ascii(code)));
    await writeFile(join(folder, 'licenses'), licenses);
    const compiled =
      arch === process.arch
        ? await codeCache({ program, runs: warmUp, flags: v8Flags, workDir: folder }, signal)
        : Buffer.alloc(0);
    await writeFile(join(folder, 'code-cache'), compiled);
    const start = { entry: join(import.meta.dirname, 'start.ts'), constants: {} };
    await writeFile(join(folder, 'start.cjs'), await bundle(start));
    const draft = join(folder, basename(output));
    await pack(draft, { arch, node, folder, v8Flags }, signal);
    await chmod(draft, 0o755);
    const digest = await fileDigest(draft, 'sha256', 'hex');
    await rename(draft, output);
    return digest;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function pack(
  output: string,
  {
    arch,
    node,
    folder,
    v8Flags,
  }: { arch: Architecture; node: string; folder: string; v8Flags: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  // pkg works in a new folder in TMPDIR. A path relative to it is the same in every checkout;
  // the path of the main file becomes part of the executable.
  const fromThere = (name: string) => join('..', name);
  const request: PackRequest = {
    entry: join(folder, 'start.cjs'),
    output,
    node,
    nodeVersion: NODE_VERSION,
    arch,
    seaConfig: {
      ...SEA_CONFIG,
      execArgv: [...SEA_CONFIG.execArgv, ...v8Flags],
      main: fromThere('start.cjs'),
      assets: {
        program: fromThere('program'),
        'code-cache': fromThere('code-cache'),
        licenses: fromThere('licenses'),
      },
    },
  };
  await execa(process.execPath, [join(import.meta.dirname, 'pack.ts')], {
    input: JSON.stringify(request),
    env: { HOME: folder, TMPDIR: folder },
    timeout: PACK_DEADLINE_MS,
    cancelSignal: signal,
  });
}

/** One byte per character, so that the executable need not decode it. */
function ascii(code: Buffer): string {
  const at = code.findIndex((byte) => byte > 0x7f);
  if (at === -1) return code.toString('latin1');
  const place = code.toString('utf8', Math.max(0, at - 40), at + 40);
  throw new Error(`expected only ASCII in the bundle, found: ${place}`);
}
