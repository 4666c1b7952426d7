/** Every certificate that is used at the site waits for a clock that is not before it. */
import t from 'tap';
import { siteClock } from '../../../../agents/reconfigure/clock.ts';
import type { ReconfigureContext } from '../../../../agents/reconfigure/context.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { daysMs } from '../../../../lib/pki/lifetimes.ts';
import { authorityNames, authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import type { TestHost } from '../host/host.ts';
import { arrived } from './site-host.ts';

const present = await createAuthority('present', 10);
const future = await createAuthority('future', 10, new Date(Date.now() + daysMs(3)));
const authorities = { servingCa: present, adminCa: present };
const certificates = { api: present, ingress: present };

type Ahead = (context: ReconfigureContext, host: TestHost) => Partial<ReconfigureContext>;
const AHEAD: readonly (readonly [what: string, ahead: Ahead])[] = [
  ...(['servingCa', 'adminCa'] as const).map((name): readonly [string, Ahead] => [
    `${name} of the volume`,
    () => ({ credentials: { kind: 'authorities', ...authorities, [name]: future } }),
  ]),
  ...(['api', 'ingress'] as const).map((name): readonly [string, Ahead] => [
    `the certificate of ${name}`,
    ({ site }) => ({ site: { ...site, certificates: { ...certificates, [name]: future } } }),
  ]),
  ...authorityNames.map((name): readonly [string, Ahead] => [
    `the authority ${name} of the host`,
    (_, host) => {
      host.write(authorityPaths(name).certificate, future.certificate);
      return {};
    },
  ]),
];

for (const [what, ahead] of AHEAD) {
  t.test(`clock: ${what}`, async (t) => {
    const { host, context } = await arrived(t);
    t.equal(await siteClock.holds(context, host.progress()), true);
    const early = { ...context, ...ahead(context, host) };
    t.equal(await siteClock.holds(early, host.progress()), false);
    t.match(await siteClock.run(early, host.progress()), { kind: 'not-yet' });
  });
}
