import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { evidence } from '../reading/evidence.ts';
import { hostFiles } from '../reading/hosts.ts';
import { linesLike } from '../reading/journal.ts';
import { conditionOf, reportedObjects } from '../reading/objects.ts';
import { bytes, percent, plural, time } from '../reading/words.ts';

/** The kubelet's hard eviction default: memory.available<100Mi (pkg/kubelet/eviction/defaults_linux.go). */
const EVICTION_BYTES = 100 * 2 ** 20;
const LITTLE_SHARE = 0.05;
/** Share of the last minute in which all tasks waited for memory, in % (Documentation/accounting/psi.rst). */
const STALLED_PERCENT = 10;
const OOM_RECENT_MS = 3_600_000;
const OOM = /(?:Out of memory|Memory cgroup out of memory): Killed process (\d+) \(([^)]*)\)/;

export const memoryPressure: Rule = {
  name: 'memory-pressure',
  looksFor:
    "less than 100 MiB or 5 % of memory available, stalls for memory in the last minute, the node's condition MemoryPressure, and processes killed for lack of memory",
  todo: 'Find out what uses it (proc/processes.txt; "systemd-cgtop -m"), give pods limits, or give the host more memory.',
  find(view) {
    return [...available(view), ...stalls(view), ...condition(view), ...killed(view)];
  },
};

function available(view: BundleView): Found[] {
  return hostFiles(view, 'proc/meminfo.txt').flatMap((path) => {
    const lines = view.lines(path);
    const read = (name: string) => {
      const index = lines.findIndex((line) => line.startsWith(`${name}:`));
      const line = lines[index] ?? '';
      return { bytes: Number(/(\d+) kB/.exec(line)?.[1]) * 1024, line, index };
    };
    const [free, total] = [read('MemAvailable'), read('MemTotal')];
    const share = free.bytes / total.bytes;
    if (!(free.bytes < EVICTION_BYTES || share < LITTLE_SHARE)) return [];
    const title = `${bytes(free.bytes)} of ${bytes(total.bytes)} memory are available (${percent(share)})`;
    const severity = free.bytes < EVICTION_BYTES ? 'failing' : 'warning';
    return [{ severity, title, evidence: [evidence(path, free.index + 1, free.line)] }];
  });
}

function stalls(view: BundleView): Found[] {
  return hostFiles(view, 'proc/pressure/memory.txt').flatMap((path) =>
    view.lines(path).flatMap((line, index) => {
      const share = Number(/^full .*avg60=([\d.]+)/.exec(line)?.[1]);
      if (!(share >= STALLED_PERCENT)) return [];
      const title = `All tasks were stalled on memory during ${share} % of the last minute`;
      return [{ severity: 'warning', title, evidence: [evidence(path, index + 1, line)] }];
    }),
  );
}

function condition(view: BundleView): Found[] {
  return reportedObjects(view, 'nodes').flatMap((node) => {
    const found = conditionOf(node, 'MemoryPressure');
    if (found?.status !== 'True') return [];
    const title = `Node ${node.name} is short of memory and evicts pods: ${found.message}`;
    return [{ severity: 'failing', title, sinceMs: found.sinceMs, evidence: node.evidence() }];
  });
}

function killed(view: BundleView): Found[] {
  return hostFiles(view, 'journals/kernel.log').flatMap((path) => {
    const kills = linesLike(view, path, OOM);
    const [first, last] = [kills[0], kills.at(-1)];
    if (first === undefined || last === undefined) return [];
    const names = [...new Set(kills.map(({ text }) => OOM.exec(text)?.[2] ?? 'a process'))];
    const ofHost = kills.some(({ text }) => !text.includes('Memory cgroup'));
    const isNow = Math.abs(view.atMs - last.atMs) < OOM_RECENT_MS;
    const title = `The kernel killed ${plural(kills.length, 'process', 'processes')} for lack of memory (${names.join(', ')}), last at ${time(last.atMs)}${ofHost ? '' : ': each had reached the limit of its own container'}`;
    return [
      {
        severity: ofHost && isNow ? 'failing' : 'warning',
        title,
        sinceMs: first.atMs,
        evidence: kills.slice(-3).map((line) => line.evidence),
      },
    ];
  });
}
