import { createReadStream, createWriteStream } from 'node:fs';
import { access, chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { execa } from 'execa';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { fileDigest } from './digest.ts';
import { stripElf } from './strip-elf.ts';

/** Processor architectures that executables are built for. */
export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

export function hostArchitecture(): Architecture {
  const arch = ARCHITECTURES.find((known) => known === process.arch);
  if (arch === undefined) throw new Error(`cannot build executables on ${process.arch}`);
  return arch;
}

/** The Node version inside every executable: the one running this script. */
export const NODE_VERSION = process.versions.node;

const DOWNLOAD_DEADLINE_MS = 5 * 60_000;
const checkout = join(import.meta.dirname, '..');

/**
 * The Node for an executable, without its symbol tables, in `folder`; returns its path. It is stripped first: stripping a
 * finished executable breaks it.
 */
export async function layBaseNode(
  arch: Architecture,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const node = join(folder, `node-v${NODE_VERSION}-linux-${arch}`);
  // Records how it was stripped: another stripper produces another Node.
  const record = `${node}.stripped-by`;
  const stripper = await fileDigest(join(import.meta.dirname, 'strip-elf.ts'), 'sha256', 'hex');
  const isThere =
    (await exists(node)) && (await readFile(record, 'utf8').catch(() => '')) === stripper;
  if (isThere) return node;
  await mkdir(folder, { recursive: true });
  await writeFile(`${node}.draft`, stripElf(await readFile(await npmNode(arch, folder, signal))));
  await chmod(`${node}.draft`, 0o755);
  await rename(`${node}.draft`, node);
  await writeFile(record, stripper);
  return node;
}

/** npm's Node package: the installed one for this processor, otherwise fetched with `npm pack` once and cached. */
async function npmNode(arch: Architecture, folder: string, signal: AbortSignal): Promise<string> {
  if (arch === process.arch) return process.execPath;
  const name = `node-linux-${arch}`;
  const installed = join(checkout, 'node_modules', name, 'bin', 'node');
  if (await exists(installed)) return installed;
  const { version, integrity } = await locked(name);
  if (version !== NODE_VERSION) {
    throw new Error(`${name} is locked at ${version}, but this build runs Node ${NODE_VERSION}`);
  }
  const node = join(folder, `${name}-${version}`);
  if (await exists(node)) return node;

  const archive = `${node}.tgz`;
  // Not in the checkout: npm would read its package.json. node_modules/.bin contains another
  // node, which must not run npm.
  const path = (process.env.PATH ?? '').split(delimiter);
  await execa('npm', ['pack', `${name}@${version}`, '--pack-destination', folder], {
    cwd: folder,
    env: { PATH: path.filter((entry) => !entry.includes('node_modules')).join(delimiter) },
    stdin: 'ignore',
    timeout: DOWNLOAD_DEADLINE_MS,
    cancelSignal: signal,
  });
  await checkIntegrity(archive, integrity);
  await unpack(archive, 'package/bin/node', node);
  await rm(archive);
  return node;
}

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});

/** The package's entry in package-lock.json, also for optional packages not installed here. */
async function locked(name: string): Promise<{ version: string; integrity: string }> {
  const text = await readFile(join(checkout, 'package-lock.json'), 'utf8');
  const { version, integrity } =
    lockSchema.parse(JSON.parse(text)).packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined) {
    throw new Error(`package-lock.json does not pin ${name}`);
  }
  return { version, integrity };
}

/** `integrity` in npm's format: the algorithm, a hyphen, the digest in base64. */
export async function checkIntegrity(path: string, integrity: string): Promise<void> {
  const [algorithm = ''] = integrity.split('-');
  const found = `${algorithm}-${await fileDigest(path, algorithm, 'base64')}`;
  if (found === integrity) return;
  await rm(path, { force: true });
  throw new Error(`${path}: package-lock.json expects ${integrity}, found ${found}`);
}

async function unpack(archive: string, entry: string, output: string): Promise<void> {
  const unpacked = extract();
  const reading = pipeline(createReadStream(archive), createGunzip(), unpacked);
  let isFound = false;
  for await (const file of unpacked) {
    if (file.header.name === entry) {
      await pipeline(file, createWriteStream(`${output}.draft`));
      isFound = true;
    } else file.resume();
  }
  await reading;
  if (!isFound) throw new Error(`${archive} does not contain ${entry}`);
  await rename(`${output}.draft`, output);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
