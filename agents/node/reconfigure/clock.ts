import { readTextIfPresent } from '../../../lib/host/files.ts';
import { certificatesIn, validityOf } from '../../../lib/pki/certificate.ts';
import { authorityNames, authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { done, notYet } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import type { ReconfigureContext } from './context.ts';

/** Certificates that are signed with a wrong clock are not valid once it is right: time servers may need a while. */
export const clock: StepBody<ReconfigureContext> = {
  name: 'clock',
  leaves: 'a clock that is not earlier than the newest certificate',
  touches: ['clock'],
  retries: true,
  neededUntil: 'start',
  input: ({ request }) => request.id,
  holds: async (context) => (await newest(context)) <= new Date(),
  async run(context) {
    const since = await newest(context);
    if (since <= new Date()) return done(new Date().toISOString());
    return notYet(
      `the clock says ${new Date().toISOString()}, but there are certificates since ${since.toISOString()}: name additionalNTPSources that the site reaches, or set the clock in the firmware`,
    );
  },
};

async function newest({ paths, site, credentials }: ReconfigureContext): Promise<Date> {
  const carried =
    credentials.kind === 'authorities'
      ? [credentials.servingCa.certificate, credentials.adminCa.certificate]
      : [];
  const own = await Promise.all(
    authorityNames.map((name) => readTextIfPresent(paths.at(authorityPaths(name).certificate))),
  );
  const given = site.certificates.api?.certificate;
  const certificates = [...carried, given, ...own].flatMap((text) => certificatesIn(text ?? ''));
  return new Date(Math.max(0, ...certificates.map((pem) => validityOf(pem).notBefore.getTime())));
}
