import { scriptNames } from '../lib/clients/rights/names.ts';
import { type HostCommandName, hostCommandNames } from '../lib/engine/agents/commands.ts';
import { AGENTS, type AgentName } from '../lib/engine/agents/table.ts';
import { measureRun } from '../lib/engine/metrics/run.ts';
import type { MeasuredHost } from '../lib/engine/metrics/write.ts';
import { type EndedRun, runAgent } from '../lib/engine/steps/agent-command.ts';
import type { Plan } from '../lib/engine/steps/step.ts';
import type { HostPaths } from '../lib/host/paths.ts';
import { restartHost } from '../lib/host/restart-host.ts';
import type { Settings } from '../lib/host/settings.ts';
import { expectShortRun } from '../lib/host/short-run.ts';
import { aioContext } from './aiokube/context.ts';
import { aiokubePlan } from './aiokube/plan.ts';
import { approveCsrPlan } from './approve-csr/plan.ts';
import { bootkubeInPlacePlan, bootkubePlan } from './bootkube/plan.ts';
import { runVerifyClean } from './commands/verify-clean/main.ts';
import { runWaitSteady } from './commands/wait-steady/main.ts';
import { runDeferred } from './deferred/main.ts';
import { runGather } from './gather/main.ts';
import { inPlaceHost } from './in-place/context.ts';
import { continuePlan, forgetPlan, inPlacePlan } from './in-place/plan.ts';
import { inPlaceStage } from './in-place/stage.ts';
import { installInPlacePlan } from './install-to-disk/in-place/plan.ts';
import { installToDiskPlan } from './install-to-disk/plan.ts';
import { postRebootOpenShiftPlan } from './post-reboot/openshift/plan.ts';
import { openShiftRestorePlan } from './post-reboot/openshift/restore/plan.ts';
import { postRebootPlan } from './post-reboot/plan.ts';
import { restorePlan } from './post-reboot/restore/plan.ts';
import { progressPlan } from './progress/plan.ts';
import { runReconfigure } from './reconfigure/main.ts';
import { renewContext } from './steps/certificates/context.ts';
import { hostContext, installContext, installedContext, plainHost } from './steps/host-context.ts';
import { isInPlace, ofKind } from './steps/of-kind.ts';
import { restoreContext } from './steps/restore/context.ts';
import { retiringArguments } from './steps/retire.ts';
import { runAddress } from './upkeep/address/main.ts';
import { approvePlan } from './upkeep/approve/plan.ts';
import { runBackup } from './upkeep/backup/main.ts';
import { backupRestorePlan } from './upkeep/backup/restore/plan.ts';
import { runBackupPush } from './upkeep/backup-push/main.ts';
import { runCertificates } from './upkeep/certificates/main.ts';
import { runIdentity } from './upkeep/identity/main.ts';
import { runPayload } from './upkeep/payload/main.ts';
import { measureRenewal } from './upkeep/renew/metrics.ts';
import { renewPlan } from './upkeep/renew/plan.ts';
import { runReport } from './upkeep/report/main.ts';
import { addRotations } from './upkeep/rotate/commands.ts';
import { rotateContext } from './upkeep/rotate/context.ts';
import { rotatePlan } from './upkeep/rotate/plan.ts';
import { runTrial } from './upkeep/trial/main.ts';
import { unsealPlan } from './upkeep/unseal/plan.ts';
import { runUpdate } from './upkeep/update/main.ts';
import { workerPlan } from './worker/plan.ts';
import { trustContext } from './worker/trust/context.ts';
import { workerTrustPlan } from './worker/trust/plan.ts';

/** `calledAs`: the name it was called by. Returns the exit code. */
type Run = (paths: HostPaths, args: readonly string[], calledAs: string) => Promise<number>;

/** Runs a plan with the command line common to all agents. */
const planned =
  <Context>(
    plan: (settings: Settings) => Plan<Context>,
    context: (paths: HostPaths) => Promise<Context>,
    measure?: (host: MeasuredHost, ended: EndedRun) => Promise<void>,
  ) =>
  async (paths: HostPaths, args: readonly string[]): Promise<number> => {
    return runAgent(paths, args, {}, (settings) => ({
      plan: plan(settings),
      context: () => context(paths),
      measure: (ended) => measure?.({ paths, settings }, ended) ?? Promise.resolve(),
      reboot: restartHost,
    }));
  };

/** An agent of the table (lib/engine/agents/table.ts), or another program of a host (lib/engine/agents/commands.ts). */
type ProgramName = AgentName | HostCommandName;

/** The implementation of each. */
export const agents: Readonly<Record<ProgramName, Run>> = {
  'sno-in-place': async (paths, args) => {
    const stage = await inPlaceStage(paths);
    if (stage === 'forget') return planned(forgetPlan, async () => ({ paths }))(paths, args);
    return planned(stage === 'continue' ? continuePlan : inPlacePlan, inPlaceHost)(paths, args);
  },
  bootkube: async (paths, args) =>
    (await isInPlace(paths))
      ? planned(bootkubeInPlacePlan, hostContext)(paths, args)
      : planned(bootkubePlan, installContext)(paths, args),
  'install-to-disk': async (paths, args) =>
    (await isInPlace(paths))
      ? planned(installInPlacePlan, hostContext)(paths, args)
      : planned(installToDiskPlan, installContext)(paths, args),
  'approve-csr': planned(approveCsrPlan, hostContext),
  progress: planned(progressPlan, hostContext),
  'sno-unseal': planned(unsealPlan, plainHost),
  'sno-payload': (paths, args) => runPayload(paths, args),
  'sno-restore': async (paths, args) =>
    planned(await ofKind(paths, restorePlan, openShiftRestorePlan), hostContext)(paths, args),
  'sno-certificates': (paths, args) => runCertificates(paths, args, addRotations),
  'post-reboot': async (paths, args) =>
    planned(await ofKind(paths, postRebootPlan, postRebootOpenShiftPlan), installedContext)(
      paths,
      await retiringArguments(paths, 'post-reboot', args),
    ),
  aiokube: async (paths, args) =>
    planned(aiokubePlan, aioContext)(paths, await retiringArguments(paths, 'aiokube', args)),
  worker: async (paths, args) =>
    planned(workerPlan, plainHost)(paths, await retiringArguments(paths, 'worker', args)),
  'sno-worker-trust': (paths, args) => {
    expectShortRun();
    return planned(workerTrustPlan, trustContext)(paths, args);
  },
  'sno-renew': (paths, args) => {
    expectShortRun();
    return planned(renewPlan, renewContext, measureRenewal)(paths, args);
  },
  'sno-backup': (paths, args) => runBackup(paths, args),
  'sno-backup-push': (paths, args) => runBackupPush(paths, args),
  'sno-backup-restore': planned(backupRestorePlan, restoreContext),
  'sno-rotate': planned(rotatePlan, rotateContext),
  'sno-approve': planned(approvePlan, plainHost, (host, ended) =>
    measureRun(host, 'sno-approve', ended),
  ),
  'sno-identity': (paths, args) => runIdentity(paths, args),
  'sno-address': (paths, args) => runAddress(paths, args),
  'sno-trial': (paths, args) => runTrial(paths, args),
  'sno-update': (paths, args) => runUpdate(paths, args),
  reconfigure: (paths, args) => runReconfigure(paths, args),
  'sno-deferred': runDeferred,
  'sno-report': (paths, args) => runReport(paths, args),
  'verify-clean': (paths, args) => runVerifyClean(paths, args),
  'wait-steady': (paths, args) => runWaitSteady(paths, args),
  gather: runGather,
};

const programNames: readonly ProgramName[] = [
  ...AGENTS.map(({ name }) => name),
  ...hostCommandNames,
];

/** The agent or program of this name, if this executable includes it. */
export function agentOf(name: string): ProgramName | undefined {
  const isScript = scriptNames.some((script) => script === name);
  const wanted = isScript ? 'gather' : name;
  return programNames.find((each) => each === wanted && Object.hasOwn(agents, each));
}
