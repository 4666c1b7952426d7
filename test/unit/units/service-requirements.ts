import {
  ADDRESS,
  AIO_EXECUTABLES,
  BEFORE_KUBELET,
  DAILY,
  EXECUTABLES,
  FROM_DISK,
  GATHER,
  INSTALLING,
  KUBELETS,
  MOUNTING,
  ON_DEMAND,
  ON_TRIAL,
  PROGRESS,
  RECONFIGURE,
  REPLACING,
  type Requirement,
  SANDBOXED,
  TRIAL,
  UNSEAL,
  UPDATE,
  WAITING,
} from './requirement.ts';

const AGENTS = '/var/lib/sno-agents/bin/sno-agents';
const DIGEST = '/usr/bin/sha256sum --check --strict /etc/sno-agents/executable.sha256';
const WATCHED = [...INSTALLING, ...WAITING, 'installed/sno-rotate'] as const;
const CONSOLES = ['/dev/console rw', 'char-tty* w', 'char-hvc* w'];
const LIMITED = [...WATCHED, ...PROGRESS, 'live/approve-csr', ...MOUNTING] as const;
const RESTARTED = [...LIMITED, ...REPLACING, ...ON_TRIAL, ADDRESS] as const;
const PART = '/var/lib/sno-agents/bin/.sno-agents.part';

/** What curl does, but for the place of the result. */
const CURL = [
  '/usr/bin/curl --disable --config /etc/sno-agents/executable.curl --no-progress-meter',
  '--fail --globoff --location --max-redirs 5 --proto =http,https --connect-timeout 30',
  '--speed-limit 1024 --speed-time 60 --retry 100 --retry-delay 5 --retry-max-time 600',
  '--retry-all-errors',
].join(' ');

/** A file with the final name is complete, verified and synced, whenever the power is cut. */
const PLACED = [
  '/usr/bin/sha256sum --check --strict /etc/sno-agents/executable-part.sha256',
  `/usr/bin/sync ${PART}`,
  `/usr/bin/mv --no-target-directory ${PART} ${AGENTS}`,
  '/usr/bin/sync /var/lib/sno-agents/bin',
];
const VERIFIES = 'installed/openshift/sno-payload';
const ONESHOTS = [
  ...BEFORE_KUBELET,
  ...EXECUTABLES,
  'sno-label',
  ...MOUNTING,
  VERIFIES,
  'live/sno-network',
] as const;

/** What each unit runs, where it writes, and how it ends. */
export const serviceRequirements: readonly Requirement[] = [
  {
    why: 'systemctl help shows the manual',
    units: [
      ...SANDBOXED,
      ...MOUNTING,
      ...KUBELETS,
      ...DAILY.map((name) => `${name}.timer`),
      'installed/sno-approve.path',
      'installed/sno-renew.path',
      `${TRIAL}.timer`,
      `${ADDRESS}.socket`,
      'worker/sno-api.socket',
    ],
    says: { Documentation: 'man:sno-agents(8)' },
  },
  ...Object.entries({
    'live/bootkube': 'bootkube',
    'live/install-to-disk': 'install-to-disk',
    'live/approve-csr': 'approve-csr',
    'live/progress': 'progress',
    'installed/bootkube': 'post-reboot',
    'aio/aiokube': 'aiokube',
    [UNSEAL]: 'sno-unseal',
    'worker/sno-worker': 'worker',
    'installed/progress': 'progress',
    'installed/sno-payload': 'sno-payload',
    'installed/sno-certificates': 'sno-certificates',
    'installed/sno-restore': 'sno-restore',
    'installed/sno-approve': 'sno-approve',
    'installed/sno-deferred': 'sno-deferred',
    'installed/sno-renew': 'sno-renew',
    'installed/sno-backup': 'sno-backup',
    'installed/sno-backup-restore': 'sno-backup-restore',
    'installed/sno-rotate': 'sno-rotate',
    'installed/sno-identity': 'sno-identity',
    [ADDRESS]: 'sno-address',
    'installed/sno-update': 'sno-update',
    [RECONFIGURE]: 'reconfigure',
  }).map(([unit, agent]) => ({
    why: `the journal names the agent, whatever the unit or executable is called`,
    units: [unit],
    says: { ExecStart: `${AGENTS} ${agent} run`, SyslogIdentifier: agent },
  })),
  ...[
    { unit: 'live/sno-gather', id: 'bootstrap' },
    { unit: 'installed/sno-gather', id: 'failure' },
  ].map(({ unit, id }) => ({
    why: 'one bundle of limited size at a fixed path: failures must not fill the disk',
    units: [unit],
    says: {
      ExecStart: `${AGENTS} gather --id ${id} --limit 24 --to /var/log/log-bundle-${id}.tar.gz`,
      SyslogIdentifier: 'gather',
    },
  })),
  {
    why: 'a damaged executable cannot verify itself: the operating system does',
    units: ['installed/sno-payload', 'installed/progress', ...FROM_DISK],
    says: { ExecStartPre: DIGEST },
  },
  {
    why: 'the same, where no payload has to be verified; reading 100 MB takes seconds',
    units: [VERIFIES],
    says: { ExecStart: DIGEST, TimeoutStartSec: '120' },
  },
  {
    why: 'units that start it do not wait for its end, and its status shows what it waits for',
    units: WATCHED,
    says: { Type: 'notify' },
  },
  {
    why: 'systemd-notify sends its messages, which the default rejects',
    units: [...WATCHED, ...BEFORE_KUBELET, ...ON_DEMAND, ...MOUNTING, TRIAL, ...ON_TRIAL, ADDRESS],
    says: { NotifyAccess: 'all' },
  },
  {
    why: 'an agent with a hanging event loop is killed and continues in a new process',
    units: [...INSTALLING, 'installed/sno-rotate'],
    says: { WatchdogSec: '180' },
  },
  {
    why: 'the same, for one that may wait for days: each notification is a process',
    units: WAITING,
    says: { WatchdogSec: '1800' },
  },
  {
    why: 'failures that a retry can fix, and crashes, are retried after a pause',
    units: RESTARTED,
    says: { Restart: 'on-failure', RestartSec: '5' },
  },
  {
    why: 'failures that a retry cannot fix are not retried; 1 is not in the list',
    units: [...LIMITED, ...ON_TRIAL, ADDRESS],
    says: { RestartPreventExitStatus: ['2', '3', '4'] },
  },
  {
    why: 'the same, but a host without a control plane is not left after a deadline (3)',
    units: REPLACING,
    says: { RestartPreventExitStatus: ['2', '4'] },
  },
  {
    why: 'deadlines limit the restarts; systemd would give up after five by default',
    units: RESTARTED,
    says: { StartLimitIntervalSec: '0' },
  },
  {
    why: 'steps get time to clean up when they are stopped, including unmounts and restored files',
    units: [...WATCHED, ...ON_DEMAND, UNSEAL, ...ON_TRIAL, ADDRESS],
    says: { TimeoutStopSec: '60' },
  },
  {
    why: 'it runs once per boot, and units that require it find it active',
    units: ONESHOTS,
    says: { Type: 'oneshot', RemainAfterExit: 'yes' },
  },
  {
    why: 'it is started again and again, so it must not remain active',
    units: [...ON_DEMAND, TRIAL, ...ON_TRIAL, ADDRESS],
    says: { Type: 'oneshot' },
  },
  {
    why: 'the workload takes precedence',
    units: [...DAILY, 'installed/sno-rotate'],
    says: { Nice: '10' },
  },
  {
    why: 'it can be started again for another bundle',
    units: GATHER,
    says: { Type: 'oneshot' },
  },
  {
    why: 'the installation takes precedence in processor, disk and memory',
    units: GATHER,
    says: { Nice: '10', CPUWeight: '20', IOWeight: '20', MemoryMax: '768M' },
  },
  {
    why: 'a bundle takes two minutes, and units that wait for it continue afterwards',
    units: GATHER,
    says: { TimeoutStartSec: '180' },
  },
  {
    why: "it may wait for a week, while the host's resources belong to the workload",
    units: WAITING,
    says: { Nice: '10', MemoryHigh: '192M' },
  },
  {
    why: 'details for support, on a console that can be photographed',
    units: [...INSTALLING, ...BEFORE_KUBELET, ...REPLACING, UNSEAL, TRIAL, ...ON_TRIAL, ADDRESS],
    says: { StandardOutput: 'journal+console' },
  },
  {
    why: 'the console shows its progress, not its log',
    units: PROGRESS,
    // With cgroup v2, systemd opens only what the unit may use.
    says: { StandardError: 'tty', TTYPath: '/dev/console', DeviceAllow: CONSOLES },
  },
  {
    why: 'network errors are visible without a network',
    units: ['live/sno-network'],
    says: { StandardError: 'journal+console' },
  },
  {
    why: 'the kubelet restarts after a crash',
    units: KUBELETS,
    says: { Restart: 'always', RestartSec: '2' },
  },
  {
    why: 'containers survive a restart of the kubelet',
    units: KUBELETS,
    says: { KillMode: 'process' },
  },
  {
    why: 'the kernel kills the kubelet last, since it evicts pods',
    units: KUBELETS,
    says: { OOMScoreAdjust: '-999' },
  },
  {
    why: 'the live kubelet has no API server: the snapshot must not contain a Node of the live host',
    units: ['live/kubelet'],
    says: {
      ExecStart: '/var/lib/sno-agents/bin/kubelet --config=/etc/kubernetes/kubelet-live.yaml',
    },
  },
  {
    why: 'it registers the address that the certificates have',
    units: ['installed/kubelet'],
    says: {
      EnvironmentFile: '/etc/sno-agents/kubelet.env',
      ExecStart:
        '/var/lib/sno-agents/bin/kubelet --config=/etc/kubernetes/kubelet.yaml --kubeconfig=/var/lib/kubelet/kubeconfig --node-ip=$\u007bKUBELET_NODE_IPS} --hostname-override=$\u007bKUBELET_NODE_NAME}',
    },
  },
  {
    why: 'pods reach the outside with the address of their node',
    units: ['installed/kubelet'],
    says: { ExecStartPre: '/usr/sbin/nft --file /etc/sno-agents/pod-egress.nft' },
  },
  {
    why: 'it is ready when it says so, and units after it find it running',
    units: ['installed/kubelet'],
    says: { Type: 'notify' },
  },
  {
    why: 'the copy that runs is the one that was verified',
    units: ['live/sno-executable'],
    says: {
      ExecStart: [
        `/usr/bin/install -D --mode=0755 /run/media/iso/sno-agents/sno-agents ${AGENTS}`,
        DIGEST,
      ],
      TimeoutStartSec: '300',
    },
  },
  {
    why: 'errors are retried within limits, only http and https are followed, and only a verified file is executable',
    units: ['live/by-url/sno-executable'],
    says: {
      EnvironmentFile: '-/etc/sno-agents/proxy.env',
      ExecStart: [`${CURL} --output ${AGENTS}`, DIGEST, `/usr/bin/chmod 0755 ${AGENTS}`],
      TimeoutStartSec: '1800',
    },
  },
  {
    why: 'the same where the disk stays: a file with the final name is the whole, verified executable',
    units: ['aio/by-url/sno-executable'],
    says: {
      EnvironmentFile: '-/etc/sno-agents/proxy.env',
      ExecStart: [`${CURL} --output ${PART}`, `/usr/bin/chmod 0755 ${PART}`, ...PLACED],
      TimeoutStartSec: '1800',
    },
  },
  {
    why: 'it fetches the payload, through the proxy if there is one',
    units: [...FROM_DISK, UPDATE],
    says: { EnvironmentFile: '-/etc/sno-agents/proxy.env' },
  },
  {
    why: 'the same from the second medium',
    units: ['aio/sno-executable'],
    says: {
      ExecStart: [
        `/usr/bin/install -D --mode=0755 /run/media/iso/sno-agents/sno-agents ${PART}`,
        ...PLACED,
      ],
      TimeoutStartSec: '300',
    },
  },
  {
    why: 'nobody is there to start it again: the server or the medium may come later',
    units: AIO_EXECUTABLES,
    says: { Restart: 'on-failure', RestartSec: '30', StartLimitIntervalSec: '0' },
  },
  {
    why: 'the name is resolved for each connection; kubelets and pods keep many open; it comes back after a crash',
    units: ['worker/sno-api'],
    says: {
      EnvironmentFile: '/etc/sno-agents/api.env',
      ExecStart: '/usr/lib/systemd/systemd-socket-proxyd --connections-max=4096 $\u007bAPI_SERVER}',
      LimitNOFILE: '16384',
      Restart: 'on-failure',
      RestartSec: '2',
    },
  },
  {
    why: 'systemd may not run files with the label of /var',
    units: ['sno-label'],
    says: {
      ExecStart: '/usr/bin/chcon --recursive --no-dereference --type=bin_t /var/lib/sno-agents/bin',
      TimeoutStartSec: '30',
    },
  },
  {
    why: 'NetworkManager answers up to a second after it is on the bus; an earlier attempt would fail',
    units: ['live/sno-network'],
    says: {
      ExecStartPre:
        "/bin/sh -c 'until busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager State >/dev/null 2>&1; do sleep 0.1; done'",
      ExecStart: '/usr/bin/nmstatectl apply /etc/sno-agents/network.yml',
    },
  },
  {
    why: 'an adapter can appear late, but each attempt interrupts the network: three attempts',
    units: ['live/sno-network'],
    says: {
      Restart: 'on-failure',
      RestartSec: '10',
      StartLimitIntervalSec: '600',
      StartLimitBurst: '3',
      TimeoutStartSec: '180',
    },
  },
];
