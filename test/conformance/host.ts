import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { E2E_ARCHIVES } from '../../lab/components/e2e-images.ts';
import { endKept, insideHost, type KeptRun, listKept } from '../../lab/kept.ts';
import { outFolder, repository } from '../../lab/paths.ts';
import { readResult } from '../../lab/result.ts';
import { Failure } from '../../lib/base/errors/failure.ts';

export const SCENARIO = 'conformance';
/** On a fresh machine the components are built first. */
const START_MS = 60 * 60_000;
/** The lab's own teardown takes at most two minutes. */
const TEARDOWN_MS = 150_000;
const IMPORT_MS = 3 * 60_000;

/** Hosts of the scenario that are running. */
export async function keptHosts(): Promise<KeptRun[]> {
  return (await listKept()).filter(({ scenario }) => scenario === SCENARIO);
}

/** Sets up an all-in-one host in the lab and leaves it running; none is left after an error. */
export async function startHost(signal: AbortSignal): Promise<KeptRun> {
  const before = new Set((await keptHosts()).map(({ folder }) => folder));
  const started = async () => (await keptHosts()).find(({ folder }) => !before.has(folder));
  try {
    await execa(
      process.execPath,
      [join(repository, 'lab/run.ts'), '--scenario', SCENARIO, '--keep'],
      {
        stdio: ['ignore', 'inherit', 'inherit'],
        cancelSignal: signal,
        forceKillAfterDelay: TEARDOWN_MS,
        timeout: START_MS,
      },
    );
    // A host is also kept after a failure, to be looked at.
    const { ok } = await readResult(outFolder(SCENARIO));
    const host = await started();
    if (host === undefined || !ok) throw new Failure('fatal', 'the lab did not set up a host');
    return host;
  } catch (error) {
    const host = await started();
    if (host !== undefined) await endKept(host);
    throw error;
  }
}

/** Imports every image archive into the host's container runtime, through its standard input. */
export async function importImages(
  host: KeptRun,
  images: string,
  signal: AbortSignal,
): Promise<void> {
  const archives = join(images, E2E_ARCHIVES);
  const ctr = await insideHost(host, ['ctr', '-n', 'k8s.io', 'images', 'import', '-']);
  const [program = '', ...args] = ctr;
  for (const name of await readdir(archives)) {
    const inputFile = join(archives, name);
    await execa(program, args, { inputFile, cancelSignal: signal, timeout: IMPORT_MS });
  }
}
