/** The authorities of a site take the place of those of the factory, wherever the step is interrupted. */
import t from 'tap';
import { credentials } from '../../../../agents/reconfigure/credentials.ts';
import { certificatesIn, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { authorityPaths, laptopAdminCa } from '../../../../lib/render/kubernetes/authorities.ts';
import { rotatableLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { killedAtAnyMoment, waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { keptHost } from './kept-host.ts';
import { SITE, STATE } from './site-host.ts';

const STAGED = `${STATE}/credentials.json`;
const CLIENTS = '/etc/kubernetes/pki/kube-apiserver/client-ca.crt';
const ADMIN = authorityPaths('admin').certificate;
const MODES = [authorityPaths('admin').key, authorityPaths('serving').key, ADMIN, CLIENTS];

/** Leaves that the present authorities of the host have not issued. */
async function foreign(host: TestHost): Promise<string[]> {
  const found: string[] = [];
  for (const { certificate, authority } of rotatableLeaves) {
    if (!host.has(certificate)) continue;
    const [leaf = ''] = certificatesIn(host.read(certificate));
    const by = host.read(authorityPaths(authority).certificate);
    if (!(await isIssuedBy(leaf, by))) found.push(certificate);
  }
  return found;
}

t.test('credentials: made once, and in use as a whole', async (t) => {
  const { host, run, keep, again } = await keptHost(t, SITE);
  host.write(laptopAdminCa, 'the laptop of the factory');
  host.write(`${STATE}/admin.kubeconfig`, 'of the site before');
  const factory = host.read(ADMIN);
  keep();
  await waitsForEachEffect(t, () => run(credentials));
  const staged = host.read(STAGED);
  again();
  // Of an attempt that was killed as soon as it had made them.
  host.write(STAGED, staged, 0o600);
  keep();
  await killedAtAnyMoment(t, {
    prepare: again,
    run: ({ run }) => run(credentials),
    allowed({ host }, when) {
      t.equal(host.read(STAGED), staged, `${when}: they are not made again`);
      const isRefused = !host.read(CLIENTS).includes(factory);
      t.ok(!isRefused || !host.has(`${STATE}/admin.kubeconfig`), `${when}: none that is refused`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(credentials),
      foreign: await foreign(host),
      isTrusted: host.read(CLIENTS).includes(host.read(ADMIN)),
      isFactory: host.read(CLIENTS).includes(factory) || host.read(ADMIN) === factory,
      laptop: host.has(laptopAdminCa),
      kubeconfig: host.has(`${STATE}/admin.kubeconfig`),
      modes: MODES.map((path) => host.mode(path)),
    }),
    least: 60,
    isDurable: true,
  });
});
