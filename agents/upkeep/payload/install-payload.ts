import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, sha256OfFile } from '../../../lib/host/files.ts';
import { bringPayload, payloadIsThere } from '../../../lib/payload/bring.ts';
import { payloadFile } from '../../../lib/payload/payload.ts';
import type { HostContext } from '../../steps/host-context.ts';

/** The digests came with Ignition; the copy on the disk is verified against them. */
export const installPayload: StepBody<HostContext> = {
  name: 'install-payload',
  leaves: "the payload's images in the container runtime, its binaries in their places",
  touches: ['disk', 'runtime'],
  retries: true,
  input: ({ paths }) => readTextIfPresent(join(paths.config, 'payload.sha256')),
  holds: ({ paths }, { signal }) => payloadIsThere(paths.payload, paths, signal),
  async run({ paths }, progress) {
    await expectDescription(paths, progress.signal);
    const { images, binaries } = await progress.wait(
      'the payload to be verified and imported',
      () => bringPayload(paths.payload, paths, progress),
    );
    return done(`${images} images, ${binaries} binaries`);
  },
};

/** payload.yaml lists all other digests; its own is in `/etc/sno-agents/payload.sha256`. */
async function expectDescription(
  { config, payload }: HostContext['paths'],
  signal: AbortSignal,
): Promise<void> {
  const stated = await readTextIfPresent(join(config, 'payload.sha256'));
  const expected = stated?.split(/\s/)[0] ?? '';
  const found = await sha256OfFile(join(payload, payloadFile), signal);
  if (found === expected) return;
  throw new Failure('fatal', `${payload}/${payloadFile} is not the payload of this installation`, {
    code: 'payload-mismatch',
    expected: `SHA-256 ${expected}`,
    found,
    fix: 'Copy the payload of this installation to that folder again, from its medium or its server.',
  });
}
