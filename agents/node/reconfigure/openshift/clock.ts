import { describeError } from '../../../../lib/errors/failure.ts';
import { readTextIfPresent } from '../../../../lib/host/files.ts';
import { runOutsideSandbox } from '../../../../lib/host/outside-sandbox.ts';
import { clockBy } from '../clock.ts';
import { filesBelow } from '../touched.ts';

/** Where operators and the kubelet keep certificates on the host. */
const FOLDERS = ['/etc/kubernetes/static-pod-resources', '/var/lib/kubelet/pki'] as const;
const CERTIFICATE = /\.(crt|pem)$/;
const CHRONYC_MS = 10_000;

/**
 * The site's time servers come with a MachineConfig, behind the start of the control plane: until then chronyd is told of them
 * in its memory, and asks them at once.
 */
export const clock = clockBy({
  async own({ paths }) {
    const files = (await Promise.all(FOLDERS.map((folder) => filesBelow(paths, folder)))).flat();
    const texts = files
      .filter((path) => CERTIFICATE.test(path))
      .map((path) => readTextIfPresent(paths.at(path)));
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  },
  async askTheTime({ site }, progress) {
    const limits = { signal: progress.signal, deadlineMs: CHRONYC_MS };
    const tell = (...args: string[]) =>
      runOutsideSandbox('chronyc', args, limits).catch((error: unknown) =>
        progress.warn(describeError(error)),
      );
    // One that it knows already is refused.
    for (const server of site.additionalNtpSources) await tell('add', 'server', server, 'iburst');
    await tell('makestep');
  },
});
