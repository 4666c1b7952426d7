/**
 * `node build/launch.mjs lab/components/pin-kubernetes.ts 1.37.2`: writes go.mod and go.sum of the programs of a version of
 * Kubernetes into `lab/components/kubernetes/<minor>`. Their dependencies have the versions that upstream's own go.mod
 * names; its staging modules, which are folders there, are the released ones of the same number.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { programs } from './kubernetes.ts';

const DEADLINE_MS = 10 * 60_000;
const UPSTREAM = 'k8s.io/kubernetes';

const [version = ''] = process.argv.slice(2);
const [, minor, patch] = /^1\.(\d+)\.(\d+)$/.exec(version) ?? [];
if (minor === undefined || patch === undefined) {
  process.stderr.write('usage: node build/launch.mjs lab/components/pin-kubernetes.ts 1.37.2\n');
  process.exit(2);
}
const target = join(import.meta.dirname, 'kubernetes', `1.${minor}`);
const tools = join(target, 'tools.go');
await mkdir(target, { recursive: true });
await writeFile(join(target, 'go.mod'), moduleOf(await upstreamGoMod(), `v0.${minor}.${patch}`));
// What `go mod tidy` keeps the dependencies of; the build names the programs itself.
const imports = programs.map((name) => `\t_ "${UPSTREAM}/cmd/${name}"\n`).join('');
await writeFile(tools, `//go:build tools\n\npackage tools\n\nimport (\n${imports})\n`);
await go(['mod', 'tidy'], target);
await rm(tools);

/** The go.mod of the version that is pinned, as upstream has it. */
async function upstreamGoMod(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pin-kubernetes-'));
  try {
    await writeFile(join(folder, 'go.mod'), 'module pin\n');
    const answer = await go(['mod', 'download', '-json', `${UPSTREAM}@v${version}`], folder);
    const [, file] = /"GoMod": "([^"]+)"/.exec(answer) ?? [];
    if (file === undefined) throw new Error(`go mod download names no GoMod: ${answer}`);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

function moduleOf(upstream: string, staging: string): string {
  const [language] = /^go .*$/m.exec(upstream) ?? [];
  if (language === undefined) throw new Error('the go.mod of Kubernetes names no version of Go');
  const replaced = [...upstream.matchAll(/^\t(\S+) => \.\/staging\//gm)].map(
    ([, module]) => `\t${module} => ${module} ${staging}\n`,
  );
  const required = [...upstream.matchAll(/^require \(\n[^)]*\)\n/gm)].map(([block]) =>
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
