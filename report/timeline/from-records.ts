import type { BundleView } from '../bundle-view.ts';
import { evidence, whereSaid } from '../reading/evidence.ts';
import { EARLIER, hostFiles } from '../reading/hosts.ts';
import { listAt, msAt, numberAt, textAt } from '../reading/values.ts';
import { type ReportedRun, stageOf } from './run.ts';

const SERVICES = /^(.*?)services\/([^/]+)\.json$/;

/**
 * Stages of units from their service records, for agents whose step journals no longer exist
 * and for the shell scripts that the agents replace.
 */
export function runsFromServices(view: BundleView): ReportedRun[] {
  return view.paths().flatMap((path) => {
    const [, folder = '', unit] = SERVICES.exec(path) ?? [];
    if (unit === undefined) return [];
    const isLive = folder.startsWith(EARLIER) || folder === 'bootstrap/';
    // The unit of the same name on the installed host runs a different agent.
    const agent = unit === 'bootkube' && !isLive ? 'post-reboot' : unit;
    return runsOfUnit(view, path, agent, isLive ? 'live' : stageOf(agent, path));
  });
}

function runsOfUnit(
  view: BundleView,
  path: string,
  agent: string,
  stage: ReportedRun['stage'],
): ReportedRun[] {
  const runs: ReportedRun[] = [];
  for (const raw of listAt(view.json(path))) {
    const [step, atMs] = [textAt(raw, 'stage'), msAt(raw, 'timestamp')];
    if (step === undefined || atMs === undefined) continue;
    const open = runs.findLast((run) => run.step === step && run.result === 'running');
    if (textAt(raw, 'phase') === 'stage start' && open === undefined) {
      const [where] = whereSaid(view, path, `"${step}"`);
      runs.push({
        agent,
        stage,
        step,
        boot: '',
        startMs: atMs,
        result: 'running',
        attempts: 1,
        isEstimated: false,
        evidence: where ?? evidence(path, 1, ''),
      });
    } else if (textAt(raw, 'phase') === 'stage end' && open !== undefined) {
      open.endMs = atMs;
      open.result = textAt(raw, 'result') === 'failure' ? 'failed' : 'done';
      const reason = textAt(raw, 'errorMessage');
      if (reason !== undefined) open.reason = reason;
    }
  }
  return runs;
}

/**
 * From what record.json keeps after the clean-up: durations and two times
 * (agents/steps/record.ts). The steps are placed back to back before these; waits are lost.
 */
export function runsFromRecord(view: BundleView): ReportedRun[] {
  return hostFiles(view, 'agents/record.json').flatMap((path) => {
    const raw = view.json(path);
    const [installedMs, completedMs] = [msAt(raw, 'installed'), msAt(raw, 'completed')];
    const steps = listAt(raw, 'steps').flatMap((step) => recorded(view, path, step));
    const of = (...agents: string[]) => steps.filter(({ agent }) => agents.includes(agent));
    const parallel = of('install-to-disk').filter(({ step }) => step === 'wait-for-bootkube');
    const writing = of('install-to-disk').filter((run) => !parallel.includes(run));
    const runs: ReportedRun[] = [];
    if (installedMs !== undefined) {
      const written = layBefore(installedMs, writing);
      runs.push(...writing, ...parallel, ...of('bootkube'));
      layBefore(written, parallel);
      layBefore(written, of('bootkube'));
    }
    if (completedMs !== undefined) {
      const installed = steps.filter(({ stage }) => stage === 'installed');
      layBefore(completedMs, installed);
      runs.push(...installed);
    }
    return runs;
  });
}

function recorded(view: BundleView, path: string, raw: unknown): ReportedRun[] {
  const [agent, step] = [textAt(raw, 'agent'), textAt(raw, 'name')];
  if (agent === undefined || step === undefined) return [];
  const [where] = whereSaid(view, path, `"${step}"`);
  return [
    {
      agent,
      stage: stageOf(agent, path),
      step,
      boot: '',
      startMs: 0,
      endMs: 0,
      result: 'done',
      attempts: numberAt(raw, 'attempts') ?? 1,
      seconds: numberAt(raw, 'seconds') ?? 0,
      waited: numberAt(raw, 'waited') ?? 0,
      isEstimated: true,
      evidence: where ?? evidence(path, 1, ''),
    },
  ];
}

/** Places the runs back to back so that the last one ends at `endMs`; returns the start of the first. */
function layBefore(endMs: number, runs: readonly ReportedRun[]): number {
  let nextMs = endMs;
  for (const run of runs.toReversed()) {
    run.endMs = nextMs;
    run.startMs = nextMs - (run.seconds ?? 0) * 1000;
    nextMs = run.startMs;
  }
  return nextMs;
}
