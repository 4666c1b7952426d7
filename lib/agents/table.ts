/**
 * On which host, and how long, an agent is there:
 * - `live`: on the live host, and gone with it;
 * - `pivot`: on the installed host until the installation is complete;
 * - `installation`: on both hosts until the installation is complete;
 * - `deferred`: on the installed host while a manifest waits for its kind;
 * - `node`: permanently on every installed host;
 * - `every`: permanently on both hosts.
 */
export type AgentStage = 'live' | 'pivot' | 'installation' | 'deferred' | 'node' | 'every';

interface AgentEntry {
  /** Of its link, lock, journal and status. */
  readonly name: string;
  /** Of its systemd unit and service record, without `.service`. */
  readonly unit: string;
  readonly stage: AgentStage;
  /** One line: what it does. */
  readonly purpose: string;
  /** Its steps are in the record of the installation, and say how far that is. */
  readonly installs?: true;
  /** The kubelet of the installed host does not start without it. */
  readonly beforeKubelet?: true;
}

/**
 * Every agent, in the order in which they run. Links, units, records, status, the clean-up and the
 * findings of a log bundle read this table; `agents/agents.ts` gives each name its program.
 */
export const AGENTS = [
  {
    name: 'bootkube',
    unit: 'bootkube',
    purpose:
      'bootstraps the control plane on this live host and makes the Ignition of the installed one',
    stage: 'live',
    installs: true,
  },
  {
    name: 'install-to-disk',
    unit: 'install-to-disk',
    purpose:
      'writes the operating system and the combined Ignition to the disk, and restarts into it',
    stage: 'live',
    installs: true,
  },
  {
    name: 'approve-csr',
    unit: 'approve-csr',
    purpose: 'watches certificate signing requests of the live stage and reports them',
    stage: 'live',
  },
  {
    name: 'progress',
    unit: 'progress',
    purpose: 'shows the progress of the installation on the console',
    stage: 'installation',
  },
  {
    name: 'sno-payload',
    unit: 'sno-payload',
    purpose:
      "verifies this host's copy of the payload, imports its images and installs its binaries",
    stage: 'node',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'sno-restore',
    unit: 'sno-restore',
    purpose: 'rebuilds etcd from the snapshot of the live stage',
    stage: 'pivot',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'sno-certificates',
    unit: 'sno-certificates',
    purpose: 'signs certificates of the control plane again that expired or soon will',
    stage: 'node',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'post-reboot',
    unit: 'bootkube',
    purpose: 'brings the installed host to its steady state and removes what the bootstrap left',
    stage: 'pivot',
    installs: true,
  },
  {
    name: 'sno-deferred',
    unit: 'sno-deferred',
    purpose: 'applies the manifests whose kinds nothing served during the installation',
    stage: 'deferred',
  },
  {
    name: 'gather',
    unit: 'sno-gather',
    purpose: 'collects a log bundle that explains itself',
    stage: 'every',
  },
] as const satisfies readonly AgentEntry[];

export type AgentName = (typeof AGENTS)[number]['name'];

const entries: readonly (AgentEntry & { readonly name: AgentName })[] = AGENTS;

/** Its entry in the table, for a name that may be any. */
export function agentEntry(name: string): (AgentEntry & { readonly name: AgentName }) | undefined {
  return entries.find((entry) => entry.name === name);
}

/** It removes its own unit, link and state when nothing waits any more. */
export const DEFERRED_AGENT = 'sno-deferred' satisfies AgentName;

/** The unit of an agent, without `.service`; any other name is returned as it is. */
export const unitOf = (name: string): string => agentEntry(name)?.unit ?? name;

/**
 * The agents that come and go with a stage, by name, in the order of the table. Those of the
 * whole installation are on the live host and, again, on the installed host.
 */
export const agentsOf = (stage: 'live' | 'pivot' | 'deferred' | 'node'): AgentName[] =>
  entries
    .filter(
      (entry) =>
        entry.stage === stage ||
        (entry.stage === 'installation' && (stage === 'live' || stage === 'pivot')),
    )
    .map(({ name }) => name);

/** Those whose steps are in the record of the installation, by host. */
export const installingAgents = {
  live: entries.filter(({ stage, installs }) => installs && stage === 'live'),
  installed: entries.filter(({ stage, installs }) => installs && stage !== 'live'),
} as const;

/** Whether the kubelet of the installed host requires that agent (units/installed). */
export const keepsKubelet = (name: string): boolean => agentEntry(name)?.beforeKubelet === true;

/** What a plan is called by, and what for: as the table has it. */
export function identity(agent: AgentName): { agent: AgentName; unit: string; purpose: string } {
  const { unit = agent, purpose = '' } = agentEntry(agent) ?? {};
  return { agent, unit, purpose };
}
