import { describeError } from '../../../lib/base/errors/failure.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import { runOutsideSandbox } from '../../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { certificatesIn, validityOf } from '../../../lib/pki/certificate.ts';
import { clockBy } from '../clock.ts';
import { filesBelow } from '../touched.ts';

/** Where operators and the kubelet keep certificates on the host. The kubelet keeps its earlier ones. */
const OPERATORS = '/etc/kubernetes/static-pod-resources';
const KUBELET = '/var/lib/kubelet/pki';
const CERTIFICATE = /\.(crt|pem)$/;
const CHRONYC_MS = 10_000;

/** The texts of the files with certificates. */
async function certificatesBelow(paths: HostPaths, folder: string): Promise<string[]> {
  const files = (await filesBelow(paths, folder)).filter((path) => CERTIFICATE.test(path));
  const texts = await Promise.all(files.map((path) => readTextIfPresent(paths.at(path))));
  return texts.filter((text) => text !== undefined);
}

/**
 * A time that has certainly passed: that of the kubelet's first certificate, from the factory. `now`
 * if the kubelet has none.
 */
export async function nodeSince(paths: HostPaths, now: Date): Promise<Date> {
  const certificates = (await certificatesBelow(paths, KUBELET)).flatMap(certificatesIn);
  const begins = certificates.map((pem) => validityOf(pem).notBefore.getTime());
  return new Date(Math.min(now.getTime(), ...begins));
}

/**
 * The site's time servers come with a MachineConfig, after the start of the control plane. Until then chronyd gets them at run
 * time, and asks them at once.
 */
export const siteClockOnOpenShift = clockBy({
  own: async ({ paths }) =>
    (
      await Promise.all([OPERATORS, KUBELET].map((folder) => certificatesBelow(paths, folder)))
    ).flat(),
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
