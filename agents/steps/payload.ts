import { join } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { exists, sha256OfFile } from '../../lib/host/files.ts';
import { bringPayload, payloadIsThere } from '../../lib/payload/bring.ts';
import { fetchPayload } from '../../lib/payload/fetch.ts';
import { payloadFile } from '../../lib/payload/payload.ts';
import type { Progress } from '../../lib/steps/progress.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';
import { payloadFolder } from './payload-folder.ts';

/** Downloads the payload unless the medium has it, verifies it, imports its images and installs its binaries. */
export const payload: StepBody<HostContext> = {
  name: 'payload',
  leaves: "the payload's images in the container runtime, its binaries in their places",
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.payloadSha256],
  async holds(context, { signal }) {
    const folder = payloadFolder(context);
    const fetched = context.cluster.payloadUrl !== undefined;
    if (fetched && !(await exists(join(folder, payloadFile)))) return false;
    return payloadIsThere(folder, context.paths, signal);
  },
  async run(context, progress) {
    await fetchServed(context, progress);
    await expectPinned(context, progress.signal);
    const { images, binaries } = await progress.wait(
      'the payload to be verified and imported',
      () => bringPayload(payloadFolder(context), context.paths, progress),
    );
    return done(`${images} images, ${binaries} binaries`);
  },
};

async function fetchServed(context: HostContext, progress: Progress): Promise<void> {
  const { payloadUrl: url, payloadSha256: sha256, proxy } = context.cluster;
  if (url === undefined) return;
  if (sha256 === undefined) {
    throw new Failure('usage', 'cluster.json has a payload URL without the digest of the payload', {
      expected: 'payloadSha256',
      fix: 'Create the Ignition config with "sno create single-node-ignition-config".',
    });
  }
  await progress.wait(`the payload from ${url}`, () =>
    fetchPayload({ url, sha256 }, payloadFolder(context), {
      ...(proxy === undefined ? {} : { proxy }),
      signal: progress.signal,
      deadlineMs: progress.remainingMs(),
    }),
  );
}

/** payload.yaml lists all other digests; its own came with Ignition, if passed to `sno create`. */
async function expectPinned(context: HostContext, signal: AbortSignal): Promise<void> {
  const expected = context.cluster.payloadSha256;
  if (expected === undefined) return;
  const path = join(payloadFolder(context), payloadFile);
  const found = await sha256OfFile(path, signal);
  if (found === expected) return;
  throw new Failure('fatal', `${path} is not the payload that this installation was created for`, {
    code: 'payload-mismatch',
    expected: `SHA-256 ${expected}`,
    found,
    fix: 'Put that payload on the live medium, or create the Ignition config for this one.',
  });
}
