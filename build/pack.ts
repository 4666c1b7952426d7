/**
 * `node pack.ts` with `HOME` and `TMPDIR` in a folder of the build and a `PackRequest` on standard
 * input: makes pkg insert a program into a Node. A separate process, since pkg changes the working folder.
 *
 * pkg's `exec()` and its command line have neither `seaConfig` nor `nodePath`; the function below them, whose types pkg
 * exports, has both.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import pkg, { type SeaConfig } from '@yao-pkg/pkg/lib-es5/sea.js';

export interface PackRequest {
  /** The file whose existence pkg checks; `seaConfig.main` states again how it is found. */
  entry: string;
  output: string;
  /** The Node that it is inserted into a copy of. */
  node: string;
  nodeVersion: string;
  arch: 'x64' | 'arm64';
  /** Node's single-executable configuration; pkg's type is incomplete. */
  seaConfig: SeaConfig & { main: string; execArgv: readonly string[]; execArgvExtension: string };
}

/**
 * pkg runs the Node of `nodePath` to ask for its version, which that of another processor cannot answer. It takes what it
 * finds in its cache for downloaded and verified.
 */
function layInCache({ node, nodeVersion, arch }: PackRequest): void {
  const name = `node-v${nodeVersion}-linux-${arch}`;
  const cache = join(homedir(), '.pkg-cache', 'sea');
  const laid = join(cache, name, 'bin', 'node');
  mkdirSync(dirname(laid), { recursive: true });
  symlinkSync(node, laid);
  for (const mark of [
    `${laid}.ok`,
    join(cache, `${name}.tar.gz`),
    join(cache, `${name}.tar.gz.ok`),
  ])
    writeFileSync(mark, '');
}

const request: PackRequest = JSON.parse(readFileSync(0, 'utf8'));
const { entry, output, node, nodeVersion, arch, seaConfig } = request;
const target = { nodeRange: `node${nodeVersion}`, platform: 'linux', arch, output } as const;
const isForeign = arch !== process.arch;
if (isForeign) layInCache(request);
await pkg.default(entry, {
  targets: [target],
  seaConfig,
  ...(isForeign ? {} : { nodePath: node }),
});
