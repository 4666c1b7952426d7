import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done, notYet } from '../../lib/engine/steps/step.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { certificatesIn, validityOf } from '../../lib/pki/certificate.ts';
import { authorityNames, authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import type { ReconfigureContext } from './context.ts';
import type { SiteStep } from './or-back.ts';

interface Clocked {
  /** The present certificates of the control plane, PEM. */
  own(context: ReconfigureContext): Promise<readonly string[]>;
  /** What can be done about a clock that is too early; it is asked again afterwards. */
  askTheTime?(context: ReconfigureContext, progress: Progress): Promise<void>;
}

/** Certificates that are signed with a wrong clock are not valid once it is right: time servers may need a while. */
export const clockBy = ({ own, askTheTime }: Clocked): SiteStep => ({
  name: 'clock',
  leaves: 'a clock that is not earlier than the newest certificate',
  touches: ['clock'],
  neededUntil: 'start',
  holds: async (context) => newest(context, await own(context)) <= new Date(),
  async run(context, progress) {
    const since = newest(context, await own(context));
    if (since > new Date()) await askTheTime?.(context, progress);
    if (since <= new Date()) return done(new Date().toISOString());
    return notYet(
      `the clock says ${new Date().toISOString()}, but there are certificates since ${since.toISOString()}: name additionalNTPSources that the site reaches, or set the clock in the firmware`,
    );
  },
});

export const siteClock = clockBy({
  async own({ paths }) {
    const files = authorityNames.map((name) =>
      readTextIfPresent(paths.at(authorityPaths(name).certificate)),
    );
    return (await Promise.all(files)).filter((text) => text !== undefined);
  },
});

/** When the youngest certificate begins, of the host and of the volume. */
function newest({ site, credentials }: ReconfigureContext, own: readonly string[]): Date {
  const carried =
    credentials.kind === 'authorities'
      ? [credentials.servingCa.certificate, credentials.adminCa.certificate]
      : [];
  const { api, ingress } = site.certificates;
  const given = [api?.certificate, ingress?.certificate];
  const certificates = [...carried, ...given, ...own].flatMap((text) => certificatesIn(text ?? ''));
  return new Date(Math.max(0, ...certificates.map((pem) => validityOf(pem).notBefore.getTime())));
}
