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

/** V8 options that every executable starts with; its compiled code is made with them too. */
const V8_FLAGS: readonly string[] = [];

/**
 * How Node starts inside the executable: nothing from outside becomes code in a daemon that
 * runs as root. `execArgvExtension: 'none'` keeps NODE_OPTIONS out; SIGUSR1 opens no debugger;
 * no OpenSSL configuration, by OPENSSL_CONF or where Node was built to look, loads a library.
 */
const SEA_CONFIG = {
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  useCodeCache: false,
  execArgv: ['--disable-sigusr1', '--openssl-config=/dev/null', ...V8_FLAGS],
  execArgvExtension: 'none',
};

export interface ExecutableOptions {
  /** The bundled program: one CommonJS file. */
  code: Buffer;
  /** Of everything that is inside it; `licenses` prints it. */
  licenses: string;
  arch: Architecture;
  /** Where the executable goes; replaced in one step when it is complete. */
  output: string;
  /** Folder for what the build keeps between runs. */
  workDir: string;
  /** Arguments that the program runs with once while it is built, for the code that its start uses. */
  warmUp: readonly (readonly string[])[];
}

/**
 * Makes a standalone executable of a bundle, with pkg, and returns its SHA-256. The same bundle
 * gives the same bytes, wherever it is built. Only for the processor that this runs on does the
 * executable contain compiled code: V8 refuses that of another.
 */
export async function makeExecutable(
  { code, licenses, arch, output, workDir, warmUp }: ExecutableOptions,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(dirname(output), { recursive: true });
  await mkdir(workDir, { recursive: true });
  await layBaseNode(arch, workDir, signal);
  const folder = await mkdtemp(join(workDir, `${basename(output)}-`));
  try {
    const program = join(folder, 'program');
    await writeFile(program, wrapped(ascii(code)));
    await writeFile(join(folder, 'licenses'), licenses);
    const compiled =
      arch === process.arch
        ? await codeCache({ program, runs: warmUp, flags: V8_FLAGS, workDir: folder }, signal)
        : Buffer.alloc(0);
    await writeFile(join(folder, 'code-cache'), compiled);
    const start = { entry: join(import.meta.dirname, 'start.ts'), constants: {} };
    await writeFile(join(folder, 'start.cjs'), await bundle(start));
    const draft = join(folder, basename(output));
    await pack(draft, { arch, folder, home: workDir }, signal);
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
  { arch, folder, home }: { arch: Architecture; folder: string; home: string },
  signal: AbortSignal,
): Promise<void> {
  // pkg goes to a new folder in TMPDIR. What is written from there is the same in every
  // checkout, and the path of the main file becomes part of the executable.
  const fromThere = (name: string) => join('..', name);
  const request: PackRequest = {
    entry: join(folder, 'start.cjs'),
    output,
    nodeVersion: NODE_VERSION,
    arch,
    seaConfig: {
      ...SEA_CONFIG,
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
    env: { HOME: home, TMPDIR: folder },
    timeout: PACK_DEADLINE_MS,
    cancelSignal: signal,
  });
}

/** Every character is one byte then, so that the executable need not decode it. */
function ascii(code: Buffer): string {
  const at = code.findIndex((byte) => byte > 0x7f);
  if (at === -1) return code.toString('latin1');
  const place = code.toString('utf8', Math.max(0, at - 40), at + 40);
  throw new Error(`expected ASCII in the bundle, found: ${place}`);
}
