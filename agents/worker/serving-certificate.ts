import { X509Certificate } from 'node:crypto';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { syncFile } from '../../lib/host/files.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { servingPair } from '../steps/approve-until.ts';
import type { PlainHost } from '../steps/host-context.ts';

/** Waits for the serving certificate that the kubelet has requested; the control-plane host approves it. */
export const workerServingCertificate: StepBody<PlainHost> = {
  name: 'serving-certificate',
  leaves: "the kubelet's serving certificate, issued for this node's name and address",
  touches: ['disk', 'api', 'clock'],
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  holds: (context) => isThere(context),
  async run(context, progress) {
    const path = context.paths.at(kubeletPaths.servingPair);
    const what = 'the serving certificate to be approved on the control-plane host';
    await progress.wait(what, () =>
      waitForFiles([path], () => isThere(context), {
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
        describe: () => what,
      }),
    );
    // The kubelet does not sync it, and does not start with an empty file after a power cut.
    await syncFile(path);
    return done();
  },
};

async function isThere({ paths, hostname }: PlainHost): Promise<boolean> {
  const pem = await servingPair(paths);
  return pem !== undefined && new X509Certificate(pem).checkHost(hostname()) !== undefined;
}
