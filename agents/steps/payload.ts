import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, sha256OfFile } from '../../lib/host/files.ts';
import { bringPayload, payloadIsThere } from '../../lib/payload/bring.ts';
import { copyPayloadTo } from '../../lib/payload/copy.ts';
import { fetchPayload } from '../../lib/payload/fetch.ts';
import { payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { hasDigest } from '../../lib/payload/verify.ts';
import type { PlainHost } from './host-context.ts';
import { mediumPayload, payloadFolder, usedPayloadFolder } from './payload-folder.ts';
import { requirePlatform } from './preflight/platform.ts';
import { pullReleaseImages, releaseIsPulled } from './release-images.ts';

/**
 * Downloads the payload, or copies it from the medium to a host that keeps it or has to decompress it; verifies it, imports
 * its images and installs its binaries. A host of OpenShift pulls the images of its release instead:
 * the node image has the binaries.
 */
export const payload: StepBody<PlainHost> = {
  name: 'payload',
  leaves: "the payload's images in the container runtime, its binaries in their places",
  touches: ['disk', 'runtime', 'network'],
  retries: true,
  input: ({ cluster }) => [
    cluster.clusterId,
    cluster.payloadSha256,
    cluster.openshift?.releaseImage,
  ],
  async holds(context, { signal }) {
    if (context.cluster.controlPlane === 'openshift') return releaseIsPulled(context, signal);
    const folder = await usedPayloadFolder(context);
    const isBrought = folder === context.paths.payload;
    if (isBrought && !(await exists(join(folder, payloadFile)))) return false;
    return payloadIsThere(folder, context.paths, signal);
  },
  async run(context, progress) {
    if (context.cluster.controlPlane === 'openshift') return pullReleaseImages(context, progress);
    await fetchServed(context, progress);
    const folder = await usedPayloadFolder(context);
    await copyFromMedium(context, folder, progress);
    await expectPinned(context, folder, progress.signal);
    // The preflight could not judge a payload that was not there.
    if (context.cluster.payloadUrl !== undefined) {
      const { kubernetes } = (await readPayload(folder)).versions;
      const notices = await requirePlatform(context, kubernetes, progress.signal);
      for (const notice of notices) progress.warn(`${notice}.`);
    }
    const { images, binaries } = await progress.wait(
      'the payload to be verified and imported',
      () => bringPayload(folder, context.paths, progress),
    );
    return done(`${images} images, ${binaries} binaries`);
  },
};

async function fetchServed(context: PlainHost, progress: Progress): Promise<void> {
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

/** The medium is needed until the copy is complete, and not after that. */
async function copyFromMedium(
  context: PlainHost,
  folder: string,
  progress: Progress,
): Promise<void> {
  const { paths, cluster } = context;
  const { signal } = progress;
  if (cluster.payloadUrl !== undefined || folder !== paths.payload) return;
  const target = join(paths.payload, payloadFile);
  const isComplete =
    cluster.payloadSha256 !== undefined && (await hasDigest(target, cluster.payloadSha256, signal));
  if (isComplete) return;
  const medium = mediumPayload(paths);
  await expectMedium(medium);
  await expectPinned(context, medium, signal);
  await progress.wait('the payload to be copied from the medium', async () =>
    copyPayloadTo(await readPayload(medium), paths.payload, signal),
  );
}

async function expectMedium(medium: string): Promise<void> {
  if (await exists(join(medium, payloadFile))) return;
  throw new Failure('retry', `${medium}/${payloadFile} does not exist`, {
    expected: 'the medium with the payload, mounted on /run/media/iso',
    fix: 'Connect the medium that "sno create aio-ignition --medium-iso" created, and restart the host.',
  });
}

/** payload.yaml lists all other digests; its own came with Ignition, if passed to `sno create`. */
async function expectPinned(
  context: PlainHost,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const expected = context.cluster.payloadSha256;
  if (expected === undefined) return;
  const path = join(folder, payloadFile);
  const found = await sha256OfFile(path, signal);
  if (found === expected) return;
  throw new Failure('fatal', `${path} is not the payload that this installation was created for`, {
    code: 'payload-mismatch',
    expected: `SHA-256 ${expected}`,
    found,
    fix: 'Put that payload on the medium, or create the Ignition config for this one.',
  });
}
