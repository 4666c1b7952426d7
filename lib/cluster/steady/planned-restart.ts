import type { Conditioned, Node, Resource } from '../../clients/kube/resources.ts';
import { resources } from '../../clients/kube/resources.ts';
import { readTextIfPresent } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { moving, type SteadyFinding, type SteadyJudgement } from './finding.ts';

const MACHINE_CONFIG = 'machineconfiguration.openshift.io';

/** `shutdown -r +5`, as systemd-logind records it (org.freedesktop.login1, ScheduleShutdown). */
export async function scheduledShutdown(paths: HostPaths): Promise<SteadyFinding[]> {
  const text = await readTextIfPresent(paths.at('/run/systemd/shutdown/scheduled'));
  if (text === undefined) return [];
  const values = new Map(
    text.split('\n').map((line): [string, string] => {
      const [name = '', ...rest] = line.split('=');
      return [name, rest.join('=')];
    }),
  );
  const at = new Date(Number(values.get('USEC')) / 1000);
  const when = Number.isNaN(at.getTime()) ? '' : ` at ${at.toISOString()}`;
  return [moving('The host', `has a ${values.get('MODE') ?? 'shutdown'} scheduled${when}`)];
}

/** A node whose machine config is being changed restarts before or after it. */
export function plannedForNode({ metadata: { name, annotations = {} } }: Node): SteadyFinding[] {
  const of = (what: string) => annotations[`${MACHINE_CONFIG}/${what}`];
  const [current, desired, state] = [of('currentConfig'), of('desiredConfig'), of('state')];
  const by = 'by the machine-config operator';
  if (desired !== current) {
    return [moving(`Node ${name}`, `changes from ${current ?? 'no config'} to ${desired}`, by)];
  }
  if (state === undefined || state === 'Done') return [];
  return [
    moving(`Node ${name}`, `has the state ${state}: ${of('reason') ?? 'no reason given'}`, by),
  ];
}

/** What TuneD applies to a node: kernel arguments among it come with a restart. */
export const tunedProfiles: Resource<Conditioned> = {
  apiVersion: 'tuned.openshift.io/v1',
  plural: 'profiles',
  schema: resources.apiServices.schema,
};

export const judgeProfiles = (all: readonly Conditioned[]): SteadyJudgement => ({
  findings: all.flatMap(({ metadata, status }) => {
    const applied = status?.conditions?.find(({ type }) => type === 'Applied');
    if (applied?.status === 'True') return [];
    const why = applied?.message ?? 'no condition Applied';
    return [moving(`Profile ${metadata.name}`, `is not applied: ${why}`, 'by tuned')];
  }),
  facts: [],
});
