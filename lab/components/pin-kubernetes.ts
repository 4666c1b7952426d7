/**
 * `node build/launch.mjs lab/components/pin-kubernetes.ts 1.37.2`: writes go.mod and go.sum of the programs of a version of
 * Kubernetes into `lab/components/kubernetes/<minor>`. Their dependencies have the versions that upstream's own go.mod
 * names; its staging modules, which are folders there, are the released ones of the same number. For the version that the
 * lab runs by default, those of Kubernetes' own tests, too, and CoreDNS and the provisioner take the modules that they share
 * with Kubernetes in its versions: each is then compiled once.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { e2ePrograms, e2eTestModule } from './e2e-test.ts';
import { ALIGNED_MODULES, modulesOf } from './go-modules.ts';
import { programs } from './kubernetes.ts';
import { kubernetesMinor } from './versions.ts';

const DEADLINE_MS = 10 * 60_000;
const UPSTREAM = 'k8s.io/kubernetes';

const [version = ''] = process.argv.slice(2);
const [, minor, patch] = /^1\.(\d+)\.(\d+)$/.exec(version) ?? [];
if (minor === undefined || patch === undefined) {
  process.stderr.write('usage: node build/launch.mjs lab/components/pin-kubernetes.ts 1.37.2\n');
  process.exit(2);
}
const upstream = await downloaded();
const goMod = moduleOf(await readFile(join(upstream, 'go.mod'), 'utf8'));
const own = programs.map((name) => `${UPSTREAM}/cmd/${name}`);
await pin(join(import.meta.dirname, 'kubernetes', `1.${minor}`), goMod, own);
if (minor === kubernetesMinor.split('.')[1]) {
  const imported = importsOf(await readFile(join(upstream, 'test/e2e/e2e_test.go'), 'utf8'));
  await pin(e2eTestModule, goMod, [...imported, ...Object.keys(e2ePrograms)]);
  for (const folder of ALIGNED_MODULES) await align(folder, `1.${minor}`);
}

/** With tools.go as `go mod tidy` needs it to keep what the packages need: the build names them itself. */
async function pin(folder: string, goMod: string, packages: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'go.mod'), goMod);
  const tools = join(folder, 'tools.go');
  const imports = packages.map((path) => `\t_ "${path}"\n`).join('');
  await writeFile(tools, `//go:build tools\n\npackage tools\n\nimport (\n${imports})\n`);
  await go(['mod', 'tidy'], folder);
  await rm(tools);
}

/** Raises or lowers what a module shares with Kubernetes to the version there. */
async function align(folder: string, of: string): Promise<void> {
  const kubernetes = await modulesOf(join(import.meta.dirname, 'kubernetes', of));
  const shared = [...(await modulesOf(folder)).keys()].flatMap((module) => {
    const wanted = kubernetes.get(module);
    return wanted === undefined ? [] : [`${module}@${wanted}`];
  });
  await go(['get', ...shared], folder);
  await go(['mod', 'tidy'], folder);
}

/** The folder of the version, as upstream publishes it. */
async function downloaded(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pin-kubernetes-'));
  try {
    await writeFile(join(folder, 'go.mod'), 'module pin\n');
    const answer = await go(['mod', 'download', '-json', `${UPSTREAM}@v${version}`], folder);
    const [, found] = /"Dir": "([^"]+)"/.exec(answer) ?? [];
    if (found === undefined) throw new Error(`go mod download names no Dir: ${answer}`);
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a file imports from modules; those of Go's own library have no dot in their first element. */
function importsOf(source: string): string[] {
  return [...source.matchAll(/^\t(?:\w+ )?"([^"/]+\.[^"]+)"$/gm)].map(([, path = '']) => path);
}

function moduleOf(text: string): string {
  const staging = `v0.${minor}.${patch}`;
  const [language] = /^go .*$/m.exec(text) ?? [];
  if (language === undefined) throw new Error('the go.mod of Kubernetes names no version of Go');
  const replaced = [...text.matchAll(/^\t(\S+) => \.\/staging\//gm)].map(
    ([, module]) => `\t${module} => ${module} ${staging}\n`,
  );
  const required = [...text.matchAll(/^require \(\n[^)]*\)\n/gm)].map(([block]) =>
    block.replace(/^\t\S+ v0\.0\.0( .*)?\n/gm, ''),
  );
  return [
    'module sno-agents.lab/kubernetes\n',
    `${language}\n`,
    `require ${UPSTREAM} v${version}\n`,
    ...required,
    `replace (\n${replaced.join('')})\n`,
  ].join('\n');
}

async function go(args: readonly string[], cwd: string): Promise<string> {
  const env = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
  const { stdout } = await execa('go', args, { cwd, env, timeout: DEADLINE_MS });
  return stdout;
}
