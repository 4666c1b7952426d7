import type { Rule } from '../bundle-view.ts';
import { hostFiles, hostsIn } from '../reading/hosts.ts';
import { isRecent, lastLike } from '../reading/journal.ts';
import { runtimeCondition } from '../reading/runtime.ts';
import { type ReportedUnit, unitsOf } from '../reading/units.ts';

/** The one file that requires a response of the runtime. */
const CONTAINERS = 'containers/containers.json';
const RUNTIMES = ['crio.service', 'containerd.service'];
/** The kubelet's own check "container runtime is down" (pkg/kubelet/runtime.go), or a socket without a server. */
const KUBELET_SAYS =
  /container runtime is down|(?:crio|containerd)\.sock: connect: (?:connection refused|no such file)/;

export const containerRuntimeDown: Rule = {
  name: 'container-runtime-down',
  looksFor:
    'a container runtime (CRI-O or containerd) whose unit failed or keeps restarting, that reports that it is not ready, or that did not answer the collection',
  todo: 'Read its journal ("journalctl -u crio -u containerd"). Look for a full disk or a damaged configuration in /etc/crio or /etc/containerd, then restart it. To empty a damaged store of CRI-O, run "crio wipe -f".',
  find(view) {
    const silent = (view.failures ?? []).find(({ path }) => path.endsWith(CONTAINERS));
    const units = hostsIn(view).flatMap((host) => {
      const all = RUNTIMES.flatMap((name) => unitsOf(view, host).get(name) ?? []);
      const isRunning = all.some(({ active, sub }) => active === 'active' && sub === 'running');
      // Early on the live host the runtime is not started yet: only a failed request shows that it is down.
      const mayBeIdle = host.stage === 'live' && silent === undefined;
      return isRunning ? [] : all.filter((unit) => isDown(unit, mayBeIdle));
    });
    const condition = runtimeCondition(view, 'RuntimeReady');
    const notReady = condition?.isTrue === false ? condition : undefined;
    const [unit] = units;
    const why =
      unit === undefined
        ? (notReady?.message ?? silent?.reason)
        : `${unit.name} is ${unit.active} (${unit.sub})`;
    if (why === undefined) return [];
    const said = hostFiles(view, 'journals/kubelet.log')
      .flatMap((path) => lastLike(view, path, KUBELET_SAYS))
      .filter((line) => isRecent(line, view));
    return [
      {
        severity: 'failing',
        title: `The container runtime is down: ${why}`,
        sinceMs: unit?.sinceMs,
        evidence: [
          ...units.flatMap(({ evidence }) => evidence),
          ...(notReady?.evidence ?? []),
          ...said.map(({ evidence }) => evidence),
        ],
      },
    ];
  },
};

const isDown = ({ active, sub }: ReportedUnit, mayBeIdle: boolean): boolean =>
  active === 'failed' || sub === 'auto-restart' || (active === 'inactive' && !mayBeIdle);
