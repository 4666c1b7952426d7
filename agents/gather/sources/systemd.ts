import { own, ownUnits } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { listBoots } from './boots.ts';
import { command } from './command.ts';
import { madeJson } from './made.ts';
import { present } from './present.ts';
import { failedUnits, journalUnits } from './units.ts';

const PROPERTIES = [
  ...['Id', 'LoadState', 'ActiveState', 'SubState', 'Result', 'NRestarts', 'ExecMainStatus'],
  ...['ExecMainCode', 'StateChangeTimestamp', 'ActiveEnterTimestamp', 'InactiveEnterTimestamp'],
];
/** Exit codes of `systemctl status` for units that are active, inactive, failed or not loaded. */
const STATES = [0, 1, 2, 3, 4];

/** Units and their results, boots, and the clock. */
export const systemd: SourceGroup = {
  name: 'systemd',
  deadlineMs: 8000,
  async list(host, signal) {
    const [failed, units] = await Promise.all([failedUnits(signal), journalUnits(signal)]);
    const systemctl = (path: string, ...args: string[]) =>
      command(path, ['systemctl', '--no-pager', ...args]);
    const at = (name: string) => own(host, `systemd/${name}`);
    return [
      systemctl(ownUnits(host, 'failed-units.txt'), 'list-units', '--state=failed'),
      ...failed.map((unit) =>
        command(
          ownUnits(host, `unit-status/${unit}.txt`),
          ['systemctl', '--no-pager', 'status', '--full', '--lines=100', '--', unit],
          { accepts: STATES },
        ),
      ),
      command(at('units.json'), ['systemctl', 'list-units', '--all', '--output=json'], {
        format: 'json',
      }),
      systemctl(at('show.txt'), 'show', '*.service', '*.mount', `--property=${PROPERTIES}`),
      systemctl(at('jobs.txt'), 'list-jobs'),
      systemctl(at('timers.txt'), 'list-timers', '--all'),
      systemctl(at('unit-files.txt'), 'list-unit-files'),
      // Effective unit files with their drop-ins. Some units may have no file.
      command(at('unit-contents.txt'), ['systemctl', '--no-pager', 'cat', '--', ...units], {
        accepts: [0, 1],
      }),
      madeJson(at('boots.json'), (_, signal) => listBoots(signal)),
      ...(await present([
        command(at('time.txt'), ['timedatectl', 'show']),
        command(at('chrony.txt'), ['chronyc', '-n', 'tracking']),
        command(at('chrony-sources.txt'), ['chronyc', '-n', 'sources', '-v']),
        // Neither has output before the boot has finished, or without a crash.
        command(at('critical-chain.txt'), ['systemd-analyze', '--no-pager', 'critical-chain'], {
          accepts: [0, 1],
        }),
        command(at('coredumps.txt'), ['coredumpctl', '--no-pager', 'list'], { accepts: [0, 1] }),
      ])),
    ];
  },
};
