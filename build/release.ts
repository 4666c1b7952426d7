/**
 * `npm run release`: builds `dist/release/`, for each processor a tarball with `sno`,
 * `sno-agents`, a link for each agent, units, documents with examples and schemas, man pages, completion, licences and a
 * CycloneDX SBOM, and `SHA256SUMS`; with `-- --key FILE` also its signature, by an SSH key. The same commit produces the same bytes in every folder. The version is
 * that of the tag (`v1.2.3`) of a clean checkout, otherwise that of package.json with the commit.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { bashCompletion, fishCompletion, zshCompletion } from '../cli/completion/completion.ts';
import { snoTree } from '../cli/completion/sno-tree.ts';
import { RELEASE_FILES, RELEASE_SIGNATURE } from '../cli/verify/release.ts';
import { AGENTS } from '../lib/engine/agents/table.ts';
import { signText } from '../lib/pki/signature/ssh-signature.ts';
import { ARCHITECTURES, type Architecture } from './base-node.ts';
import { type BuiltExecutable, buildAll, versionOf } from './build.ts';
import { bundleWithInputs } from './bundle.ts';
import { componentsOf, licenseTexts } from './components.ts';
import { fileDigest } from './digest.ts';
import { agentsManual, snoManual } from './release/man.ts';
import { sbomOf } from './release/sbom.ts';
import { type Entry, writeTarball } from './release/tarball.ts';
import { unitEntries } from './release/units.ts';

const DEADLINE_MS = 60 * 60_000;
/** In package.json, until a publisher has put its own addresses there. */
const PLACEHOLDER = 'https://example.invalid';
/** A passphrase may have to be typed. */
const SIGN_MS = 300_000;
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const output = join(dist, 'release');

/** Paths of the executables that `npm run build -- --all` made for a processor. */
const executablesFor = (built: readonly BuiltExecutable[], arch: Architecture) => {
  const folder = arch === process.arch ? join(dist, 'bin') : join(dist, `linux-${arch}`, 'bin');
  const wanted = ['sno', 'sno-agents'].map((name) => join(folder, name));
  return built.filter(({ path }) => wanted.includes(path));
};

async function documents(version: string, date: Date): Promise<Entry[]> {
  const tree = snoTree();
  const page = { version, date };
  return [
    { path: 'share/man/man1/sno.1', contents: snoManual(tree, page) },
    { path: 'share/man/man8/sno-agents.8', contents: agentsManual(page) },
    { path: 'share/bash-completion/completions/sno', contents: bashCompletion(tree) },
    { path: 'share/zsh/site-functions/_sno', contents: zshCompletion(tree) },
    { path: 'share/fish/vendor_completions.d/sno.fish', contents: fishCompletion(tree) },
    { path: 'LICENSE', contents: await readFile(join(root, 'LICENSE')) },
    ...(await written(['README.md', 'CHANGELOG.md'])),
    ...(await written(await documentNames('docs'))),
    ...(await written(await documentNames('deploy'))),
  ];
}

const written = (paths: readonly string[]): Promise<Entry[]> =>
  Promise.all(paths.map(async (path) => ({ path, contents: await readFile(join(root, path)) })));

/** What people read or apply, and not the programs that generate it: pages, examples, schemas, alerts, files of a hub. */
async function documentNames(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** All third-party components in either executable. */
async function shippedComponents(signal: AbortSignal) {
  signal.throwIfAborted();
  const inputs = await Promise.all(
    ['agents/main.ts', 'cli/main.ts', 'build/start.ts'].map(
      async (entry) =>
        (await bundleWithInputs({ entry: join(root, entry), constants: {} })).bytesByInput,
    ),
  );
  return componentsOf(Object.assign({}, ...inputs));
}

async function release(key: string | undefined, signal: AbortSignal): Promise<string[]> {
  const version = await versionOf(root, signal);
  const date = await commitDate(signal);
  const built = await buildAll({ root, dist, single: false }, signal);
  const components = await shippedComponents(signal);
  const common = [
    ...(await documents(version, date)),
    ...unitEntries(),
    { path: 'THIRD-PARTY-LICENSES', contents: licenseTexts(components) },
  ];
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  const made: string[] = [];
  for (const arch of ARCHITECTURES) {
    const executables = executablesFor(built, arch);
    const name = `sno-agents-${version}-linux-${arch}`;
    const digests = Object.fromEntries(
      executables.map(({ path, sha256 }) => [`bin/${basename(path)}`, sha256]),
    );
    const sbom = sbomOf({ version, arch, components, executables: digests });
    const entries: Entry[] = [
      ...common,
      { path: 'sbom.cdx.json', contents: sbom },
      ...(await Promise.all(
        executables.map(async ({ path }) => ({
          path: `bin/${basename(path)}`,
          mode: 0o755,
          contents: await readFile(path),
        })),
      )),
      ...AGENTS.map((agent) => ({
        path: `bin/${agent.name}`,
        contents: { link: 'sno-agents' },
      })),
    ];
    const file = join(output, `${name}.tar.gz`);
    const named = entries.map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));
    await writeTarball(file, named, date, signal);
    made.push(file);
  }
  const text = await sums(made);
  made.push(join(output, RELEASE_FILES.sums));
  await writeFile(join(output, RELEASE_FILES.sums), text);
  if (key === undefined) return made;
  const limits = { signal, deadlineMs: SIGN_MS };
  const signature = await signText(text, resolve(key), RELEASE_SIGNATURE, limits);
  await writeFile(join(output, RELEASE_FILES.signature), signature);
  return [...made, join(output, RELEASE_FILES.signature)];
}

async function sums(files: readonly string[]): Promise<string> {
  const lines = files.map(
    async (file) => `${await fileDigest(file, 'sha256', 'hex')}  ${basename(file)}\n`,
  );
  return (await Promise.all(lines)).join('');
}

/** Date of the commit, so that builds are reproducible; the epoch if there is no commit. */
async function commitDate(signal: AbortSignal): Promise<Date> {
  const { stdout, failed } = await execa('git', ['log', '-1', '--format=%ct'], {
    cwd: root,
    reject: false,
    timeout: 10_000,
    cancelSignal: signal,
  });
  return new Date((failed ? 0 : Number(stdout)) * 1000);
}

const { key } = parseArgs({ options: { key: { type: 'string' } } }).values;
for (const file of await release(key, AbortSignal.timeout(DEADLINE_MS))) {
  process.stdout.write(`built  ${file}\n`);
}
if (key === undefined) process.stdout.write('not signed: -- --key FILE signs SHA256SUMS\n');
if ((await readFile(join(root, 'package.json'), 'utf8')).includes(PLACEHOLDER)) {
  process.stdout.write(`package.json: homepage, bugs and repository are still ${PLACEHOLDER}\n`);
}
