import { join } from 'node:path';
import { sha256OfFile } from '../../lib/host/files.ts';
import { bringPayload, payloadIsThere } from '../../lib/payload/bring.ts';
import { payloadFile } from '../../lib/payload/payload.ts';
import { Failure } from '../../lib/steps/failure.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { LiveContext } from './context.ts';

const source = ({ paths }: LiveContext) => `${paths.medium}/payload`;

/** Verifies the payload on the live medium, imports its images and installs its binaries. */
export const payload: StepBody<LiveContext> = {
  name: 'payload',
  leaves: "the payload's images in the container runtime, its binaries in their places",
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.payloadSha256],
  holds: (context, { signal }) => payloadIsThere(source(context), context.paths, signal),
  async run(context, progress) {
    await expectPinned(context, progress.signal);
    const { images, binaries } = await progress.wait(
      'the payload to be verified and imported',
      () => bringPayload(source(context), context.paths, progress),
    );
    return done(`${images} images, ${binaries} binaries`);
  },
};

/** payload.yaml states the digests of all else; its own came with the Ignition, if `sno create` was given it. */
async function expectPinned(context: LiveContext, signal: AbortSignal): Promise<void> {
  const expected = context.cluster.payloadSha256;
  if (expected === undefined) return;
  const path = join(source(context), payloadFile);
  const found = await sha256OfFile(path, signal);
  if (found === expected) return;
  throw new Failure('fatal', `${path} is not the payload that this installation was made for`, {
    expected: `SHA-256 ${expected}`,
    found,
    fix: 'Put that payload on the live medium, or make the Ignition for this one.',
  });
}
