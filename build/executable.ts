import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pkg from '@yao-pkg/pkg/lib-es5/sea.js';
import { execa } from 'execa';

const STRIP_DEADLINE_MS = 60_000;

/**
 * How Node starts inside the executable. `execArgvExtension: 'none'` keeps NODE_OPTIONS,
 * and with it foreign code, out of a daemon that runs as root.
 */
const SEA_CONFIG = {
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  execArgvExtension: 'none',
};

export interface ExecutableOptions {
  /** The bundled program: one CommonJS file. */
  code: Buffer;
  /** Where the executable goes; replaced in one step when it is complete. */
  output: string;
  /** Folder for what the build keeps between runs. */
  workDir: string;
  /**
   * With V8's code cache an agent starts in half the time and holds less memory, but V8
   * seeds it at random: only without it does a second build give the same bytes.
   */
  codeCache: boolean;
}

export interface BuiltExecutable {
  path: string;
  sha256: string;
  /** False if the executable was already there, made of the same inputs. */
  isNew: boolean;
}

/**
 * Makes a standalone executable of a bundle, with pkg, around the Node that runs this.
 * With unchanged inputs nothing is done.
 */
export async function makeExecutable(
  { code, output, workDir, codeCache }: ExecutableOptions,
  signal: AbortSignal,
): Promise<BuiltExecutable> {
  const name = basename(output);
  const stampFile = join(workDir, `${name}.stamp`);
  const seaConfig = { ...SEA_CONFIG, useCodeCache: codeCache };
  const inputs = sha256(`${process.version} ${JSON.stringify(seaConfig)} ${sha256(code)}`);
  const known = await builtFrom(inputs, stampFile, output);
  if (known !== undefined) return { path: output, sha256: known, isNew: false };

  await mkdir(workDir, { recursive: true });
  await mkdir(dirname(output), { recursive: true });
  const entry = join(workDir, `${name}.cjs`);
  const draft = join(workDir, `${name}.draft`);
  await writeFile(entry, code);
  await packInto(draft, entry, await baseNode(workDir, signal), seaConfig);
  await chmod(draft, 0o755);
  const digest = await sha256OfFile(draft);
  await rm(stampFile, { force: true });
  await rename(draft, output);
  await writeFile(stampFile, `${inputs} ${digest}\n`);
  return { path: output, sha256: digest, isNew: true };
}

/**
 * pkg's own command line drops `seaConfig` and wants to download Node; the function
 * behind it takes both the configuration and a Node to build on.
 */
async function packInto(
  output: string,
  entry: string,
  nodePath: string,
  seaConfig: typeof SEA_CONFIG & { useCodeCache: boolean },
): Promise<void> {
  const target = {
    nodeRange: `node${process.versions.node}`,
    platform: 'linux',
    arch: process.arch,
    output,
  } as const;
  await pkg.default(entry, { targets: [target], nodePath, seaConfig });
}

/** Node without its symbol tables. It is stripped first: the finished executable breaks by it. */
async function baseNode(workDir: string, signal: AbortSignal): Promise<string> {
  const base = join(workDir, `node-${process.version}-linux-${process.arch}`);
  const draft = `${base}.draft`;
  await copyFile(process.execPath, draft);
  const stripped = await execa('strip', ['--strip-all', draft], {
    reject: false,
    timeout: STRIP_DEADLINE_MS,
    cancelSignal: signal,
  });
  if (stripped.failed) {
    process.stderr.write(`Node stays unstripped, 18 MB larger: ${stripped.shortMessage}\n`);
    await copyFile(process.execPath, draft);
  }
  await rename(draft, base);
  return base;
}

/** The digest of `output` if it is what these inputs made. */
async function builtFrom(
  inputs: string,
  stampFile: string,
  output: string,
): Promise<string | undefined> {
  const stamp = await readFile(stampFile, 'utf8').catch(() => '');
  const [knownInputs, digest] = stamp.trim().split(' ');
  if (knownInputs !== inputs || digest === undefined) return undefined;
  const found = await sha256OfFile(output).catch(() => undefined);
  return found === digest ? digest : undefined;
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
