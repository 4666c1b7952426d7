import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { DISK_VARIABLE } from '../../cli/install-config/disk-variable.ts';
import { sno } from '../unit/cli/run-sno.ts';
import type { InstallConfigCase } from './cases.ts';

/** What a program says of an install-config. */
export interface Verdict {
  readonly isAccepted: boolean;
  /** One for each fault. */
  readonly faults: readonly string[];
}

const DEADLINE_MS = 60_000;
/** A string to the installer: nothing pulls it. */
const RELEASE_IMAGE = `registry.example/ocp/release@sha256:${'0123456789abcdef'.repeat(4)}`;
/** Workers need it: only the install-config is compared. */
const SERVED = [
  ...['--agents-url', 'https://boot.example/sno-agents', '--payload-url', 'https://boot.example/p'],
  ...['--payload-sha256', '0123456789abcdef'.repeat(4)],
];
const COMMAND = ['create', 'single-node-ignition-config'];

/** `sno create single-node-ignition-config`, with the executable of a test. */
export async function verdictOfSno(
  { text, variable }: InstallConfigCase,
  dir: string,
  executable: string,
): Promise<Verdict> {
  await folderWith(dir, text);
  const { code, err } = await sno(
    [...COMMAND, '--dir', dir, '--agents-executable', executable, ...SERVED],
    variable === undefined ? {} : { [DISK_VARIABLE]: variable },
  );
  return { isAccepted: code === 0, faults: code === 0 ? [] : err.split('\n').slice(1) };
}

/** The same command of openshift-install; what it made is in `dir` if it accepts the file. */
export async function verdictOfInstaller(
  component: string,
  { text, variable }: Pick<InstallConfigCase, 'text' | 'variable'>,
  dir: string,
  signal: AbortSignal,
): Promise<Verdict> {
  await folderWith(dir, text);
  const { failed, timedOut, stderr } = await execa(
    join(component, 'openshift-install'),
    [...COMMAND, '--dir', dir, '--log-level', 'error'],
    {
      env: {
        OPENSHIFT_INSTALL_DATA: join(component, 'data'),
        OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE: RELEASE_IMAGE,
        ...(variable === undefined ? {} : { [DISK_VARIABLE]: variable }),
      },
      reject: false,
      timeout: DEADLINE_MS,
      cancelSignal: signal,
    },
  );
  if (timedOut) throw new Error(`openshift-install took more than ${DEADLINE_MS / 1000} s`);
  const faults = [...stderr.matchAll(/level=(?:error|fatal) msg="?(.*?)"?$/gm)].map(
    ([, message = '']) => message,
  );
  return { isAccepted: !failed, faults };
}

async function folderWith(dir: string, text: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'install-config.yaml'), text);
}

export const ignitionIn = (dir: string): Promise<string> =>
  readFile(join(dir, 'bootstrap-in-place-for-live-iso.ign'), 'utf8');
