/**
 * On which host, and for how long, an agent exists:
 * - `live`: on the live host only, and on one that bootstraps on its own disk;
 * - `in-place`: on the latter until it is installed;
 * - `pivot`: on the installed host until the installation is complete;
 * - `installation`: on both hosts until the installation is complete;
 * - `aio`: on an all-in-one host until the installation is complete;
 * - `worker`: on a worker until it has joined;
 * - `joined`: permanently on a worker, which does nothing with it before it has joined;
 * - `deferred`: on the installed host while a manifest waits for its kind;
 * - `sealed`: permanently on a host whose keys are sealed;
 * - `node`: permanently on every installed host;
 * - `every`: permanently on both hosts.
 */
export type AgentStage =
  | 'live'
  | 'in-place'
  | 'pivot'
  | 'aio'
  | 'worker'
  | 'joined'
  | 'installation'
  | 'deferred'
  | 'sealed'
  | 'node'
  | 'every';

interface AgentEntry {
  /** Name of its link, lock, journal and status. */
  readonly name: string;
  /** Name of its systemd unit and service record, without `.service`. Default: its own. */
  readonly unit?: string;
  readonly stage: AgentStage;
  /** One line: what it does. */
  readonly purpose: string;
  /** Its steps are part of the installation record and of the displayed progress. */
  readonly installs?: true;
  /** The kubelet of the installed host does not start without it. */
  readonly beforeKubelet?: true;
}

const TABLE = [
  {
    name: 'sno-in-place',
    purpose: 'prepares a host without a live image to bootstrap in memory on its own disk',
    stage: 'in-place',
  },
  {
    name: 'bootkube',
    purpose:
      'bootstraps the control plane on the live host and creates the Ignition config of the installed host',
    stage: 'live',
    installs: true,
  },
  {
    name: 'install-to-disk',
    purpose:
      'writes the operating system and the combined Ignition to the disk, and restarts into it',
    stage: 'live',
    installs: true,
  },
  {
    name: 'approve-csr',
    purpose: 'watches certificate signing requests of the live stage and reports them',
    stage: 'live',
  },
  {
    name: 'progress',
    purpose: 'shows the progress of the installation on the console',
    stage: 'installation',
  },
  {
    name: 'sno-unseal',
    purpose: "opens the control plane's keys of a sealed host into memory",
    stage: 'sealed',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'sno-payload',
    purpose:
      "verifies this host's copy of the payload, imports its images and installs its binaries",
    stage: 'node',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'sno-restore',
    purpose: 'rebuilds etcd from the snapshot of the live stage',
    stage: 'pivot',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'sno-certificates',
    purpose: 'renews certificates of the control plane that have expired or soon will',
    stage: 'node',
    installs: true,
    beforeKubelet: true,
  },
  {
    name: 'post-reboot',
    unit: 'bootkube',
    purpose: 'brings the installed host to its steady state and deletes what the bootstrap left',
    stage: 'pivot',
    installs: true,
  },
  {
    name: 'aiokube',
    purpose: 'sets up the control plane and the node of an all-in-one host',
    stage: 'aio',
    installs: true,
  },
  {
    name: 'worker',
    unit: 'sno-worker',
    purpose: 'joins a worker to the cluster',
    stage: 'worker',
    installs: true,
  },
  {
    name: 'sno-worker-trust',
    purpose:
      "keeps a worker's kubelet trusting the CAs of the API server that the cluster publishes",
    stage: 'joined',
  },
  {
    name: 'sno-renew',
    purpose:
      "renews certificates of the running control plane, and approves the kubelet's next serving certificate",
    stage: 'node',
  },
  {
    name: 'sno-backup',
    purpose: 'makes a backup of the running etcd, and deletes the oldest ones',
    stage: 'node',
  },
  {
    name: 'sno-backup-push',
    purpose: 'stores the newest backup elsewhere, encrypted, and reads it back',
    stage: 'node',
  },
  {
    name: 'sno-backup-restore',
    purpose: 'restores a backup on request, or puts the database from before back in use',
    stage: 'node',
  },
  {
    name: 'sno-rotate',
    purpose: 'replaces CAs, the service account key or the encryption key of the control plane',
    stage: 'node',
  },
  {
    name: 'sno-identity',
    purpose: 'gives the host and its cluster another name, address or domain on request',
    stage: 'node',
  },
  {
    name: 'sno-address',
    purpose:
      'notices that the address of this host has moved, and has it followed if so configured',
    stage: 'node',
  },
  {
    name: 'sno-trial',
    purpose: 'takes a change of this host back unless it is confirmed in time',
    stage: 'node',
  },
  {
    name: 'sno-update',
    purpose:
      'replaces the agents and the payload of this host, and goes back if they do not settle',
    stage: 'node',
  },
  {
    name: 'reconfigure',
    purpose: 'gives a relocatable host the configuration of its site, and goes back if it fails',
    stage: 'node',
  },
  {
    name: 'sno-approve',
    purpose: 'approves the certificates of workers that are on the list of this host',
    stage: 'node',
  },
  {
    name: 'sno-deferred',
    purpose: 'applies the manifests whose kinds were not served during the installation',
    stage: 'deferred',
  },
  {
    name: 'sno-report',
    purpose: 'reports to a hub or a server how the installation and the changes of this host go',
    stage: 'every',
  },
  {
    name: 'gather',
    unit: 'sno-gather',
    purpose: 'collects a log bundle with a report',
    stage: 'every',
  },
] as const satisfies readonly AgentEntry[];

export type AgentName = (typeof TABLE)[number]['name'];

/**
 * Every agent, in the order in which they run. Links, units, records, status, the
 * cleanup and the findings of a log bundle are derived from this table;
 * `agents/agents.ts` maps each name to its program.
 */
export const AGENTS = TABLE.map((entry) => ({ unit: entry.name, ...entry }));

type Agent = AgentEntry & { readonly name: AgentName; readonly unit: string };
const entries: readonly Agent[] = AGENTS;

/** The entry of an agent; undefined for an unknown name. */
export function agentEntry(name: string): Agent | undefined {
  return entries.find((entry) => entry.name === name);
}

/** Deletes its own unit, link and state when no manifest is waiting any more. */
export const DEFERRED_AGENT = 'sno-deferred' satisfies AgentName;

/** It replaces etcd's database while a request for it exists. */
export const RESTORING_AGENT = 'sno-backup-restore' satisfies AgentName;

/** It holds the controllers back while a request for it exists. */
export const IDENTITY_AGENT = 'sno-identity' satisfies AgentName;

/** The last agent of an installation: on a host that a live host wrote, an all-in-one host, a worker. */
export const ENDING_AGENTS = [
  'post-reboot',
  'aiokube',
  'worker',
] as const satisfies readonly AgentName[];
export type EndingAgent = (typeof ENDING_AGENTS)[number];

/** Whether the end of that agent is the end of the installation. */
export const endsInstallation = (name: string): boolean =>
  ENDING_AGENTS.some((agent) => agent === name);

/** Whether its steps are part of an installation. */
export const installs = (name: string): boolean => agentEntry(name)?.installs === true;

/** The unit of an agent, without `.service`; any other name is returned as it is. */
export const unitOf = (name: string): string => agentEntry(name)?.unit ?? name;

/**
 * The names of the agents that exist only in a stage, in the order of the table. Agents
 * of the whole installation are on every host until it is complete.
 */
export const agentsOf = (stage: AgentStage): AgentName[] =>
  entries
    .filter(
      (entry) =>
        entry.stage === stage ||
        (entry.stage === 'installation' && ['live', 'pivot', 'aio', 'worker'].includes(stage)),
    )
    .map(({ name }) => name);

/** The names of the agents that are removed when this one has ended the installation. */
export function removedWith(agent: EndingAgent): AgentName[] {
  const stage = agentEntry(agent)?.stage;
  return stage === undefined ? [] : agentsOf(stage);
}

/** The agents whose steps are in the installation record, by host. */
export const installingAgents = {
  live: entries.filter(({ stage, installs }) => installs && stage === 'live'),
  installed: entries.filter(({ stage, installs }) => installs && stage !== 'live'),
} as const;

/** Whether the kubelet of the installed host requires that agent (units/installed). */
export const keepsKubelet = (name: string): boolean => agentEntry(name)?.beforeKubelet === true;

/** The units that the kubelet of every node requires, with `.service`, in the order of the table. */
export const kubeletRequires: readonly string[] = entries
  .filter(({ stage, beforeKubelet }) => stage === 'node' && beforeKubelet)
  .map(({ unit }) => `${unit}.service`);

/** Agents of every node that a worker has too: the others serve a control plane. */
export const WORKER_AGENTS = [
  'sno-payload',
  'sno-trial',
  'sno-update',
] as const satisfies readonly AgentName[];

/** The units that the kubelet of a worker requires, with `.service`. */
export const workerKubeletRequires: readonly string[] = WORKER_AGENTS.filter(keepsKubelet).map(
  (name) => `${unitOf(name)}.service`,
);

/** Name, unit and purpose of a plan, from the table. */
export function identity(agent: AgentName): { agent: AgentName; unit: string; purpose: string } {
  const { unit = agent, purpose = '' } = agentEntry(agent) ?? {};
  return { agent, unit, purpose };
}
