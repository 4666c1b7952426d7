import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { stillRunning } from '../../../lib/change/exclusion.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import { exists, sha256OfFile, syncFile } from '../../../lib/host/files.ts';
import { payloadFile, readPayload } from '../../../lib/payload/payload.ts';
import { labelPrograms } from '../../../lib/payload/selinux.ts';
import { hasDigest, verifyPayload } from '../../../lib/payload/verify.ts';
import type { UpdatedHost } from './context.ts';
import { roomObstacles } from './obstacles.ts';
import { nextExecutable, nextFolder, nextPayload } from './places.ts';
import { requireDigest, updateSource } from './source.ts';

/**
 * Puts the executable and the payload beside those in use, and verifies them by the signed manifest. Begins once the API
 * server is ready, and accepts what this host signs: an update of a host without etcd, or with a wrong clock, would be
 * taken back for a fault that it has not caused.
 */
export const stageUpdate: ChangeStep<UpdatedHost> = {
  name: 'stage',
  leaves: 'the new executable and the new payload beside those in use',
  touches: ['disk', 'network', 'api', 'clock'],
  neededUntil: 'switch',
  holds: (context, { signal }) => isStaged(context, signal),
  async run(context, progress) {
    const { paths, cluster, request } = context;
    const { executable, payload } = request.manifest;
    const { signal } = progress;
    const running = await stillRunning(paths);
    if (running !== undefined) return running;
    const unready = await context.whyApiNotReady(progress);
    if (unready !== undefined) return notYet(`the API server is not ready: ${unready}`);
    const source = updateSource(request.from, cluster);
    if (await isStaged(context, signal)) return done('both are there');
    await mkdir(nextFolder(paths), { recursive: true, mode: 0o700 });
    const isSame = await isInUse(context, signal);
    await requireRoom(nextFolder(paths), executable.size + (isSame ? 0 : payload.size));
    const next = nextExecutable(paths);
    const limits = { signal, deadlineMs: progress.remainingMs() };
    if (!(await isExecutableThere(context, signal))) {
      // Not continued: its beginning may be from another file.
      await rm(next, { force: true });
      await progress.wait('the executable', () => source.executable(next, executable.size, limits));
      await requireDigest(next, executable.sha256, signal);
      await chmod(next, 0o755);
      await labelPrograms([next], signal);
      await syncFile(next);
    }
    if (isSame) return done('the executable; the payload is the same');
    try {
      await progress.wait('the payload', () => source.payload(nextPayload(paths), payload, limits));
      await verifyPayload(await readPayload(nextPayload(paths)), signal);
    } catch (error) {
      // With its description it would count as complete.
      await rm(join(nextPayload(paths), payloadFile), { force: true });
      throw error;
    }
    return done('the executable and the payload');
  },
};

async function isStaged(context: UpdatedHost, signal: AbortSignal): Promise<boolean> {
  const { sha256 } = context.request.manifest.payload;
  const description = join(nextPayload(context.paths), payloadFile);
  return (
    (await isExecutableThere(context, signal)) &&
    ((await isInUse(context, signal)) || (await hasDigest(description, sha256, signal)))
  );
}

/** Beside the one in use, or in its place: a power cut may have interrupted the switch. */
async function isExecutableThere(
  { paths, request }: UpdatedHost,
  signal: AbortSignal,
): Promise<boolean> {
  const { sha256 } = request.manifest.executable;
  return (
    (await hasDigest(nextExecutable(paths), sha256, signal)) ||
    (await hasDigest(paths.executable, sha256, signal))
  );
}

/** Whether the payload of the update is the one in use. */
export async function isInUse(
  { paths, request }: Pick<UpdatedHost, 'paths' | 'request'>,
  signal: AbortSignal,
): Promise<boolean> {
  const description = join(paths.payload, payloadFile);
  const { sha256 } = request.manifest.payload;
  return (await exists(description)) && (await sha256OfFile(description, signal)) === sha256;
}

async function requireRoom(folder: string, needed: number): Promise<void> {
  const [missing] = await roomObstacles(folder, needed);
  if (missing === undefined) return;
  throw new Failure('fatal', missing.found, {
    code: 'disk-full',
    fix: `${missing.fix} Nothing was changed.`,
  });
}
