import { unitOf } from '../../lib/agents/table.ts';
import type { Rule } from '../bundle-view.ts';
import { hostsIn } from '../reading/hosts.ts';
import { stepFailures } from '../reading/steps.ts';
import { unitsOf } from '../reading/units.ts';

/** Units essential for the installation and the node; failures of others are only warnings. */
const NEEDED =
  /^(kubelet|crio|containerd|bootkube|install-to-disk|sno-[a-z-]+|NetworkManager|ignition-[a-z-]+|machine-config-daemon-firstboot|release-image|node-image-[a-z]+|var(-lib-[a-z]+)?)\.(service|mount)$/;

export const unitFailed: Rule = {
  name: 'unit-failed',
  looksFor:
    'systemd units in the state failed: an error for units that an installation or a node needs, otherwise a warning; agents with details in their step journal are reported there',
  todo: 'Read the journal of the unit ("journalctl -u UNIT"), fix the cause, then "systemctl start UNIT".',
  find(view) {
    const told = new Set(stepFailures(view).map(({ agent }) => unitOf(agent)));
    return hostsIn(view).flatMap((host) =>
      [...unitsOf(view, host).values()]
        .filter(({ name, active }) => active === 'failed' && !told.has(name.replace(/\..*$/, '')))
        .map(({ name, result, exitStatus, sinceMs, evidence }) => ({
          severity: NEEDED.test(name) ? 'failing' : 'warning',
          title: `${name} failed${result === undefined ? '' : ` (${result}${exitStatus === undefined || exitStatus === '0' ? '' : `, status ${exitStatus}`})`}`,
          sinceMs,
          evidence,
          todo: this.todo.replaceAll('UNIT', name),
        })),
    );
  },
};
