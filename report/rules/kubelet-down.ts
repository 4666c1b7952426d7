import type { Rule } from '../bundle-view.ts';
import { hostFiles, installedHosts } from '../reading/hosts.ts';
import {
  installingUnit,
  START_COMMANDS,
  startCommand,
  startsKubelet,
} from '../reading/installation.ts';
import { lastLike, RECENT_MS } from '../reading/journal.ts';
import { unitsOf } from '../reading/units.ts';

/** Units that the kubelet requires on the installed host: if they fail, systemd does not start it. */
const REQUIRED = ['sno-payload.service', 'sno-certificates.service', 'sno-restore.service'];
const SAID = / [EF]\d{4} |Failed with result|Dependency failed|"command failed"/;
const FIX = 'Fix the error in its journal, or the required unit that failed';
const STATES = /^(failed|inactive)$/;

export const kubeletDown: Rule = {
  name: 'kubelet-down',
  looksFor:
    'an installed host whose kubelet is not running: it failed, keeps restarting, or was never started because a required unit failed',
  todo: `${FIX}, then ${START_COMMANDS}.`,
  find(view) {
    return installedHosts(view).flatMap((host) => {
      const units = unitsOf(view, host);
      const kubelet = units.get('kubelet.service');
      if (kubelet === undefined) return [];
      const isRestarting = kubelet.sub === 'auto-restart';
      if (!STATES.test(kubelet.active) && !isRestarting) return [];
      const pending = REQUIRED.filter((name) => units.get(name)?.active === 'activating');
      // It starts when they are finished.
      const isQueued = view
        .lines(`${host.folder}systemd/jobs.txt`)
        .some((line) => /\bkubelet\.service\s+start/.test(line));
      if (kubelet.active === 'inactive' && (isQueued || pending.length > 0)) return [];
      const failed = REQUIRED.flatMap((name) => {
        const unit = units.get(name);
        return unit?.active === 'failed' ? [unit] : [];
      });
      const said = hostFiles(view, 'journals/kubelet.log').flatMap((path) =>
        lastLike(view, path, SAID, 2),
      );
      const isNotYetStarted =
        kubelet.active === 'inactive' &&
        failed.length + said.length === 0 &&
        startsKubelet(installingUnit(view));
      if (isNotYetStarted) return [];
      const why =
        failed.length > 0
          ? `, since ${failed.map(({ name }) => name).join(', ')} failed, which it requires`
          : isRestarting
            ? `; systemd has started it ${(kubelet.restarts ?? 0) + 1} times`
            : '';
      return [
        {
          severity: 'failing',
          title: `The kubelet is not running (${kubelet.active}, ${kubelet.sub})${why}`,
          sinceMs: kubelet.sinceMs,
          evidence: [
            ...failed.flatMap(({ evidence }) => evidence),
            ...kubelet.evidence,
            ...said
              .filter(({ atMs }) => atMs >= (kubelet.sinceMs ?? view.atMs) - RECENT_MS)
              .map(({ evidence }) => evidence),
          ],
          todo: `${FIX}, then run "${startCommand(view)}".`,
        },
      ];
    });
  },
};
