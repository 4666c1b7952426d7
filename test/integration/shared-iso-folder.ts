import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { stringify } from 'yaml';
import { runSno } from '../../cli/sno.ts';
import { makeLiveIso } from '../../lab/components/live-iso.ts';
import { agentsExecutable } from '../unit/cli/agents-executable.ts';
import { installConfig, missingForIso, writeIsoPayload } from './iso-inputs.ts';

export const IGNITION = 'bootstrap-in-place-for-live-iso.ign';
export const signal = AbortSignal.timeout(20 * 60_000);
export const within = { timeout: 60_000 };
/** Why no ISO can be made here; false if one can. */
export const skip = (await missingForIso(signal)) ?? false;
const folder = await mkdtemp(join(tmpdir(), 'shared-iso-'));
t.teardown(() => rm(folder, { recursive: true }));
/** A path in the folder of the test. */
export const at = (...names: string[]) => join(folder, ...names);

/** Makes live.iso, and payload and executable for it. */
export async function makeInputs(): Promise<void> {
  await writeIsoPayload(at('payload'));
  await writeFile(at('executable'), Buffer.concat([agentsExecutable(), randomBytes(500_000)]));
  await writeFile(at('os.raw.zst'), randomBytes(1_000_000));
  await makeLiveIso(at('live.iso'), at('os.raw.zst'), signal);
}

/** Runs `sno`. `executable`: whether it finds one for the ISO. */
export async function sno(args: readonly string[], { executable = false } = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runSno(args, {
    environment: {
      PATH: process.env.PATH,
      ...(executable ? { SNO_AGENTS_EXECUTABLE: at('executable') } : {}),
    },
    print: (line) => out.push(line),
    complain: (text) => err.push(text),
    signal,
  });
  return {
    code,
    out: out.join('\n'),
    err: err.filter((text) => !text.startsWith('Notice: ')).join('\n'),
  };
}

/** `sno create shared-iso` of live.iso. */
export const share = (output: string, ...more: string[]) =>
  sno(['create', 'shared-iso', '--iso', at('live.iso'), '--output', at(output), ...more], {
    executable: true,
  });
/** `sno create single-node-iso` of a folder with shared.iso. */
export const createSite = (dir: string, ...more: string[]) =>
  sno(['create', 'single-node-iso', '--dir', at(dir), '--shared', at('shared.iso'), ...more]);
/** The option with the payload. */
export const payload = () => ['--payload', at('payload')];
/** The config that coreos-installer finds on an ISO. */
export const embedded = async (iso: string) =>
  (
    await execa('coreos-installer', ['iso', 'ignition', 'show', iso], {
      ...within,
      stripFinalNewline: false,
    })
  ).stdout;

/** A folder with install-config.yaml. */
export async function newSite(name: string, config: object = installConfig): Promise<void> {
  await mkdir(at(name));
  await writeFile(at(`${name}/install-config.yaml`), stringify(config));
}
