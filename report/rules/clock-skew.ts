import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { evidence } from '../reading/evidence.ts';
import { containerLogs, hostFiles } from '../reading/hosts.ts';
import { isRecent, lastLike } from '../reading/journal.ts';
import { currentStepJournals } from '../reading/steps.ts';
import { duration, time } from '../reading/words.ts';

/** etcd warns above this (server/etcdserver/api/rafthttp/probing_status.go). */
const WARNING_S = 1;
/** The API server's leeway for the times in tokens (go-jose, jwt.DefaultLeeway). */
const FAILING_S = 60;
/** A busy host may take this long to write a line. */
const JUMP_MS = 5000;

/** Certificates, tokens and leases require the three clocks of an installation to agree. */
export const clockSkew: Rule = {
  name: 'clock-skew',
  looksFor:
    "chrony's offset from its sources, a clock step while agents were running, and etcd's warnings about clock differences",
  todo: 'Make the NTP servers reachable ("chronyc sources", bootstrapInPlace.additionalNTPSources), or set the clock with "date --utc --set TIME" ("timedatectl set-time" is refused while a time service is enabled). Certificates that were issued with the wrong time may have to be replaced.',
  find(view) {
    return [...offset(view), ...jumps(view), ...etcdSays(view)];
  },
};

function offset(view: BundleView): Found[] {
  return hostFiles(view, 'systemd/chrony.txt').flatMap((path) =>
    view.lines(path).flatMap((line, index) => {
      const [, seconds, way] = /^System time\s*:\s*([\d.]+) seconds (slow|fast)/.exec(line) ?? [];
      const off = Number(seconds);
      if (seconds === undefined || !(off >= WARNING_S)) return [];
      return [
        {
          severity: off >= FAILING_S ? 'failing' : 'warning',
          title: `The clock of the host is ${duration(off * 1000)} ${way === 'slow' ? 'behind' : 'ahead of'} its time servers`,
          evidence: [evidence(path, index + 1, line)],
        },
      ];
    }),
  );
}

/** Step journal entries have wall-clock time and time since boot: both must advance equally. */
function jumps(view: BundleView): Found[] {
  return currentStepJournals(view).flatMap(({ agent, entries }) =>
    entries.flatMap((entry, index) => {
      const before = entries[index - 1];
      if (before === undefined || before.boot !== entry.boot) return [];
      const jump = entry.atMs - before.atMs - (entry.up - before.up) * 1000;
      if (Math.abs(jump) < JUMP_MS) return [];
      const title = `The clock was set ${jump > 0 ? 'forward' : 'back'} by ${duration(jump)} while ${agent} ran, at ${time(entry.atMs)}`;
      const both = [before.evidence, entry.evidence];
      return [{ severity: 'warning', title, sinceMs: entry.atMs, evidence: both }];
    }),
  );
}

function etcdSays(view: BundleView): Found[] {
  const said = containerLogs(view, 'etcd')
    .flatMap((path) => lastLike(view, path, /clock difference|high clock drift/, 2))
    .filter((line) => isRecent(line, view))
    .map((line) => line.evidence);
  const title = 'etcd reports that the clocks of its members differ';
  return said.length === 0 ? [] : [{ severity: 'warning', title, evidence: said }];
}
