import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { rotationFolder } from '../../../lib/change/rotation/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import { isIssuedBy } from '../../../lib/pki/certificate.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { rotatableLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import type { RotateContext } from './context.ts';

const sinceSchema = z.object({
  id: z.string(),
  since: z.iso.datetime(),
  /** The same moment on the clock of that boot. */
  boot: z.string().optional(),
  up: z.number().optional(),
});
type Since = z.infer<typeof sinceSchema>;
const sinceFile = (paths: HostPaths) =>
  stateFile(join(rotationFolder(paths), 'overlap.json'), sinceSchema, { damaged: 'none-if-read' });

/**
 * Leaves old and new in use together until nothing needs the old one: connections that were made with
 * it, tokens that it signed, files in pods that the kubelet updates. A secret that is encrypted
 * again needs no such time.
 */
export const overlap: StepBody<RotateContext> = {
  name: 'overlap',
  leaves: 'no connection or token that needs the old one',
  touches: ['disk', 'clock'],
  neededUntil: 'trust-new',
  input: ({ request }) => request.id,
  holds: async () => true,
  async run(context, progress) {
    const { paths, request } = context;
    const leftMs = overlapMs(context) - (await passedMs(await beginning(paths, request.id)));
    if (leftMs > 0) {
      await progress.wait(
        `everything to stop using the old one (${Math.ceil(leftMs / 1000)} s)`,
        () => sleep(leftMs, undefined, { signal: progress.signal }),
      );
    }
    await requireNewLeaves(context);
    return done();
  },
};

function overlapMs({ request, settings }: RotateContext): number {
  if (request.what.kind === 'encryption') return 0;
  return request.what.kind === 'service-account'
    ? settings.rotateTokensMs
    : settings.rotateOverlapMs;
}

/** When it began; kept, so that a restart does not begin it again. */
async function beginning(paths: HostPaths, id: string): Promise<Since> {
  const kept = await sinceFile(paths).read();
  if (kept?.id === id) return kept;
  const since = { id, since: new Date().toISOString(), ...(await bootMoment()) };
  await sinceFile(paths).write(since);
  return since;
}

/**
 * In the same boot by the clock that nobody can set. A reboot ends every connection of the host, and
 * the clock was then set at the latest; one that was set back must not make the time longer.
 */
async function passedMs({ since, boot, up = 0 }: Since): Promise<number> {
  const now = await bootMoment();
  if (boot === now.boot) return (now.up - up) * 1000;
  return Math.max(0, Date.now() - Date.parse(since));
}

export async function dropBeginning(paths: HostPaths): Promise<void> {
  await sinceFile(paths).remove();
}

/**
 * The kubelet may have rotated a certificate in the minute in which the controller-manager still
 * signed with the old authority. Without trust in that, the node would be lost. The next start of the
 * agent puts the new certificate in place again, since the files of use-new are not on the disk.
 */
async function requireNewLeaves({ paths, request: { what } }: RotateContext): Promise<void> {
  if (what.kind !== 'authorities') return;
  for (const { name, certificate, authority } of rotatableLeaves) {
    const pem = await readTextIfPresent(paths.at(certificate));
    if (pem === undefined || !what.names.includes(authority)) continue;
    const issuer = await readTextIfPresent(paths.at(authorityPaths(authority).certificate));
    if (await isIssuedBy(pem, issuer ?? '')) continue;
    throw new Failure('retry', `${name} is still a certificate of the old ${authority} CA`, {
      subject: certificate,
    });
  }
}
