import { bringPayload, payloadIsThere } from '../../lib/payload/bring.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { LiveContext } from './context.ts';

const source = ({ paths }: LiveContext) => `${paths.medium}/payload`;

/** Verifies the payload on the live medium, imports its images and installs its binaries. */
export const payload: StepBody<LiveContext> = {
  name: 'payload',
  leaves: "the payload's images in the container runtime, its binaries in their places",
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: (context, { signal }) => payloadIsThere(source(context), context.paths, signal),
  async run(context, progress) {
    const { images, binaries } = await progress.wait(
      'the payload to be verified and imported',
      () => bringPayload(source(context), context.paths, progress),
    );
    return done(`${images} images, ${binaries} binaries`);
  },
};
