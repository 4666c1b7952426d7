/** Whoever reads the addresses of its host needs netlink: without it, Node fails where a sandbox is, and in no test of the code. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { root, wayTo } from '../structure/source.ts';

/** The folder of each agent's plan, and the unit that it runs in. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  'agents/approve-csr': ['live/approve-csr'],
  'agents/aiokube': ['aio/aiokube'],
  'agents/bootkube': ['live/bootkube'],
  'agents/deferred': ['installed/sno-deferred'],
  'agents/in-place': ['in-place/sno-in-place'],
  'agents/install-to-disk': ['live/install-to-disk'],
  'agents/install-to-disk/in-place': ['live/install-to-disk'],
  'agents/post-reboot': ['installed/bootkube'],
  'agents/post-reboot/restore': ['installed/sno-restore'],
  'agents/progress': ['live/progress', 'installed/progress'],
  'agents/worker': ['worker/sno-worker'],
  'agents/worker/trust': ['worker/sno-worker-trust'],
  'agents/upkeep/address': ['installed/sno-address'],
  'agents/upkeep/approve': ['installed/sno-approve'],
  'agents/upkeep/backup': ['installed/sno-backup'],
  'agents/upkeep/backup-push': ['installed/sno-backup-push'],
  'agents/upkeep/backup/restore': ['installed/sno-backup-restore'],
  'agents/upkeep/certificates': ['installed/sno-certificates'],
  'agents/upkeep/identity': ['installed/sno-identity'],
  'agents/upkeep/payload': ['installed/sno-payload'],
  'agents/reconfigure': ['installed/reconfigure'],
  'agents/upkeep/renew': ['installed/sno-renew'],
  'agents/upkeep/report': ['report/sno-report'],
  'agents/upkeep/rotate': ['installed/sno-rotate'],
  'agents/upkeep/trial': ['installed/sno-trial'],
  'agents/upkeep/unseal': ['installed/sno-unseal'],
  'agents/upkeep/update': ['installed/sno-update'],
  'agents/upkeep/update/worker': ['installed/sno-update'],
};
/** On OpenShift they run in units of OpenShift's plans. */
const OF_OPENSHIFT = /openshift/;
/** Why an agent does not call what it imports. */
const NOT_CALLED: Readonly<Record<string, string>> = {
  'agents/upkeep/certificates': 'it takes the name of a file from the step that approves',
};

const plans = globSync('agents/**/plan.ts', { cwd: root }).filter(
  (path) => !OF_OPENSHIFT.test(path) && !/reconfigure\/(?:prepare|validate)/.test(path),
);

t.test('every plan has its unit here', async (t) => {
  t.same(plans.map((path) => dirname(path)).toSorted(), Object.keys(UNITS).toSorted());
});

for (const folder of Object.keys(UNITS)) {
  t.test(folder, async (t) => {
    const way = wayTo(
      ({ target, names }) => target === 'node:os' && names.includes('networkInterfaces'),
      `${folder}/plan.ts`,
    );
    if (way === undefined || folder in NOT_CALLED) return;
    for (const unit of UNITS[folder] ?? []) {
      const text = readFileSync(join(root, 'units', `${unit}.service`), 'utf8');
      const families = /^RestrictAddressFamilies=(.*)$/m.exec(text)?.[1] ?? '';
      t.match(families, /\bAF_NETLINK\b/, `${unit}: ${way.join(' -> ')}`);
    }
  });
}
