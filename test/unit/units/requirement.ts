/** Directives that units must have, and what goes wrong without them. */
export interface Requirement {
  readonly why: string;
  /** By their files below `units/`, without `.service`; timers, path units and sockets in full. */
  readonly units: readonly string[];
  /**
   * By directive: a value, the values of repeated lines in their order, or some words of a list, to
   * which other requirements may add theirs. '' is an empty list, which allows nothing.
   */
  readonly says: Readonly<Record<string, string | readonly string[]>>;
}

export const KUBELETS = ['live/kubelet', 'installed/kubelet'] as const;

/** Run a plan until it is done, and are started again if they fail. */
export const INSTALLING = [
  'live/bootkube',
  'live/install-to-disk',
  'installed/bootkube',
  'aio/aiokube',
  'worker/sno-worker',
] as const;

/** Set up a host that boots from its disk, without a live stage. */
export const FROM_DISK = ['aio/aiokube', 'worker/sno-worker'] as const;

/** Done before the kubelet of the installed host starts. */
export const BEFORE_KUBELET = [
  'installed/sno-payload',
  'installed/sno-certificates',
  'installed/sno-restore',
] as const;

/** Mounts the keys of a sealed host, for every process. */
export const UNSEAL = 'installed/sno-unseal';
/** Covers folders of the disk with memory, for every process. */
export const IN_PLACE = 'in-place/sno-in-place';
/** Mount for every process. */
export const MOUNTING = [UNSEAL, IN_PLACE] as const;
/** Takes a change back, with nothing of the host to rely on. */
export const TRIAL = 'installed/sno-trial';
/** Notices that the address has moved, and has the identity changed. */
export const ADDRESS = 'installed/sno-address';
/** Makes such a change. */
export const UPDATE = 'installed/sno-update';
/** Gives a host the configuration of its site. */
export const RECONFIGURE = 'installed/reconfigure';
/** Asks the factory's URL for the volume of the site. */
export const SITE_URL = 'installed/sno-site-url';
/** Make changes that are on trial. */
export const ON_TRIAL = [UPDATE, RECONFIGURE] as const;

/** Follows the CAs of the API server on a worker. */
export const WORKER_TRUST = 'worker/sno-worker-trust';

/** Stores backups elsewhere. */
export const BACKUP_PUSH = 'installed/sno-backup-push';

/** Tells a hub how the host is. */
export const REPORT = 'report/sno-report';

export const PROGRESS = ['live/progress', 'installed/progress'] as const;
export const GATHER = ['live/sno-gather', 'installed/sno-gather'] as const;
/** Install the executable from a medium. */
export const FROM_MEDIUM = ['live/sno-executable', 'aio/sno-executable'] as const;
/** Fetch it. */
export const BY_URL = ['live/by-url/sno-executable', 'aio/by-url/sno-executable'] as const;
export const EXECUTABLES = [...FROM_MEDIUM, ...BY_URL] as const;
/** On a host that keeps its disk across boots. */
export const AIO_EXECUTABLES = ['aio/sno-executable', 'aio/by-url/sno-executable'] as const;

/** Run a plan by the command line of every agent. */
export const PLANNED = [
  ...INSTALLING,
  ...BEFORE_KUBELET,
  ...PROGRESS,
  'live/approve-csr',
  'installed/sno-approve',
  'installed/sno-deferred',
  'installed/sno-renew',
  'installed/sno-backup',
  'installed/sno-backup-restore',
  'installed/sno-rotate',
  'installed/sno-identity',
  ADDRESS,
  'installed/sno-trial',
  'installed/sno-update',
  RECONFIGURE,
  WORKER_TRUST,
  REPORT,
  BACKUP_PUSH,
] as const;

/** Stay on a running host for days while they wait. */
export const WAITING = ['installed/sno-deferred', 'installed/sno-approve'] as const;

/** Replace what the control plane runs with, and continue at the next boot. */
export const REPLACING = ['installed/sno-backup-restore', 'installed/sno-identity'] as const;

/** Started by a timer or a person, on a running host. */
export const DAILY = ['installed/sno-renew', 'installed/sno-backup'] as const;
export const ON_DEMAND = [...DAILY, ...REPLACING] as const;

/** Run the executable of the agents, which is a JavaScript engine. */
export const AGENT_UNITS = [...PLANNED, ...GATHER, SITE_URL] as const;

/** Run programs of the operating system only. */
export const SYSTEM_PROGRAMS = [
  'sno-label',
  'installed/openshift/sno-payload',
  'live/sno-network',
  'worker/sno-api',
  ...EXECUTABLES,
] as const;

export const SANDBOXED = [...AGENT_UNITS, ...SYSTEM_PROGRAMS] as const;

export const except = (units: readonly string[], ...others: string[]): string[] =>
  units.filter((unit) => !others.includes(unit));
