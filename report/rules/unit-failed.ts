import { parseJson } from '../../lib/base/json.ts';
import { unitOf } from '../../lib/engine/agents/table.ts';
import type { BundleView, Evidence, Rule } from '../bundle-view.ts';
import { evidence } from '../reading/evidence.ts';
import { type BundleHost, hostsIn } from '../reading/hosts.ts';
import { RECENT_MS } from '../reading/journal.ts';
import { stepFailures } from '../reading/steps.ts';
import { unitsOf } from '../reading/units.ts';
import { numberAt, textAt } from '../reading/values.ts';

/** Units essential for the installation and the node; failures of others are only warnings. */
const NEEDED =
  /^(kubelet|crio|containerd|bootkube|aiokube|install-to-disk|sno-[a-z-]+|NetworkManager|ignition-[a-z-]+|machine-config-daemon-firstboot|release-image|node-image-[a-z]+|var(-lib-[a-z]+)?)\.(service|mount)$/;

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
        .map(({ name, result, exitStatus, sinceMs, evidence: state }) => ({
          severity: NEEDED.test(name) ? 'failing' : 'warning',
          title: `${name} failed${result === undefined ? '' : ` (${result}${exitStatus === undefined || exitStatus === '0' ? '' : `, status ${exitStatus}`})`}`,
          sinceMs,
          evidence: [...state, ...lastErrors(view, host, name, sinceMs)],
          todo: this.todo.replaceAll('UNIT', name),
        })),
    );
  },
};

const SHOWN = 2;

/** What the unit last logged as an error before it failed, or since: it may say why. */
function lastErrors(
  view: BundleView,
  { folder }: BundleHost,
  unit: string,
  failedMs = 0,
): Evidence[] {
  const path = `${folder}journals/errors.jsonl`;
  return view
    .lines(path)
    .flatMap((line, index) => {
      const raw = line.includes(unit) ? parseJson(line) : undefined;
      const by = textAt(raw, '_SYSTEMD_UNIT') ?? textAt(raw, 'UNIT');
      const message = textAt(raw, 'MESSAGE');
      const atMs = (numberAt(raw, '__REALTIME_TIMESTAMP') ?? Infinity) / 1000;
      if (by !== unit || message === undefined || atMs < failedMs - RECENT_MS) return [];
      return [evidence(path, index + 1, message)];
    })
    .slice(-SHOWN);
}
