/**
 * `node pack.ts` with `HOME` and `TMPDIR` in a folder of the build and a `PackRequest` on standard
 * input: makes pkg insert a program into a Node. pkg's own command line drops `seaConfig`.
 *
 * A separate process, since pkg changes the working folder and looks for the Node of another
 * processor in `HOME`, where the build has put it; otherwise pkg would download it.
 */
import { readFileSync } from 'node:fs';
import pkg, { type SeaConfig } from '@yao-pkg/pkg/lib-es5/sea.js';

export interface PackRequest {
  /** The file whose existence pkg checks; `seaConfig.main` states again how it is found. */
  entry: string;
  output: string;
  nodeVersion: string;
  arch: 'x64' | 'arm64';
  /** Node's single-executable configuration; pkg's type is incomplete. */
  seaConfig: SeaConfig & { main: string; execArgv: readonly string[]; execArgvExtension: string };
}

const { entry, output, nodeVersion, arch, seaConfig }: PackRequest = JSON.parse(
  readFileSync(0, 'utf8'),
);
const target = { nodeRange: `node${nodeVersion}`, platform: 'linux', arch, output } as const;
await pkg.default(entry, { targets: [target], seaConfig });
