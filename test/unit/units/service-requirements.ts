import {
  BEFORE_KUBELET,
  EXECUTABLES,
  GATHER,
  INSTALLING,
  KUBELETS,
  PROGRESS,
  type Requirement,
  SANDBOXED,
} from './requirement.ts';

const AGENTS = '/var/lib/sno-agents/bin/sno-agents';
const DIGEST = '/usr/bin/sha256sum --check --strict /etc/sno-agents/executable.sha256';
const WATCHED = [...INSTALLING, 'installed/sno-deferred'] as const;
const RESTARTED = [...WATCHED, ...PROGRESS, 'live/approve-csr'] as const;
const ONESHOTS = [...BEFORE_KUBELET, ...EXECUTABLES, 'sno-label', 'live/sno-network'] as const;

/** What each unit runs, in front of whom, and how it ends. */
export const serviceRequirements: readonly Requirement[] = [
  {
    why: 'systemctl help says where to read on',
    units: [...SANDBOXED, ...KUBELETS],
    says: { Documentation: 'man:sno-agents(8)' },
  },
  ...Object.entries({
    'live/bootkube': 'bootkube',
    'live/install-to-disk': 'install-to-disk',
    'live/approve-csr': 'approve-csr',
    'live/progress': 'progress',
    'installed/bootkube': 'post-reboot',
    'installed/progress': 'progress',
    'installed/sno-payload': 'sno-payload',
    'installed/sno-certificates': 'sno-certificates',
    'installed/sno-restore': 'sno-restore',
    'installed/sno-deferred': 'sno-deferred',
  }).map(([unit, agent]) => ({
    why: `the journal names the agent, whatever its unit or executable is called`,
    units: [unit],
    says: { ExecStart: `${AGENTS} ${agent} run`, SyslogIdentifier: agent },
  })),
  ...[
    { unit: 'live/sno-gather', id: 'bootstrap' },
    { unit: 'installed/sno-gather', id: 'failure' },
  ].map(({ unit, id }) => ({
    why: 'one bundle of bounded size, always at the same place: failures must not fill the disk',
    units: [unit],
    says: {
      ExecStart: `${AGENTS} gather --id ${id} --limit 24 --to /var/log/log-bundle-${id}.tar.gz`,
      SyslogIdentifier: 'gather',
    },
  })),
  {
    why: 'a damaged executable judges nothing, itself least: the operating system checks it',
    units: ['installed/sno-payload', 'installed/progress'],
    says: { ExecStartPre: DIGEST },
  },
  {
    why: 'who starts it does not wait for its end, and its status shows what it waits for',
    units: WATCHED,
    says: { Type: 'notify' },
  },
  {
    why: 'systemd-notify speaks for it: with the default, its messages are rejected',
    units: [...WATCHED, ...BEFORE_KUBELET],
    says: { NotifyAccess: 'all' },
  },
  {
    why: 'an agent whose event loop hangs is ended and goes on in a new process',
    units: INSTALLING,
    says: { WatchdogSec: '180' },
  },
  {
    why: 'the same, for one that may wait for days: each feeding is a process',
    units: ['installed/sno-deferred'],
    says: { WatchdogSec: '1800' },
  },
  {
    why: 'a failure that another attempt can cure, or a crash, is retried after a pause',
    units: RESTARTED,
    says: { Restart: 'on-failure', RestartSec: '5' },
  },
  {
    why: 'what another attempt cannot cure is left; 1 is not in the list, or nothing would be retried',
    units: RESTARTED,
    says: { RestartPreventExitStatus: ['2', '3', '4'] },
  },
  {
    why: "deadlines bound the restarts; systemd's default would give up after five",
    units: RESTARTED,
    says: { StartLimitIntervalSec: '0' },
  },
  {
    why: 'it is ready once its plan begins; a start that hangs ends',
    units: WATCHED,
    says: { TimeoutStartSec: '120' },
  },
  {
    why: 'steps that are told to stop get time to clean up, unmounts included',
    units: WATCHED,
    says: { TimeoutStopSec: '60' },
  },
  {
    why: 'each step asks for more time: a start that does not is hanging. A oneshot has no limit by default',
    units: BEFORE_KUBELET,
    says: { TimeoutStartSec: '120' },
  },
  {
    why: 'it runs once a boot: others that require it find it done',
    units: ONESHOTS,
    says: { Type: 'oneshot', RemainAfterExit: 'yes' },
  },
  {
    why: 'it can be started again, for another bundle',
    units: GATHER,
    says: { Type: 'oneshot' },
  },
  {
    why: 'what it explains goes first: it takes processor, disk and memory that nobody else needs',
    units: GATHER,
    says: { Nice: '10', CPUWeight: '20', IOWeight: '20', MemoryMax: '768M' },
  },
  {
    why: 'a bundle takes two minutes; whoever waits for it goes on then',
    units: GATHER,
    says: { TimeoutStartSec: '180' },
  },
  {
    why: "the host's resources are the workload's while it waits, for a week maybe",
    units: ['installed/sno-deferred'],
    says: { Nice: '10', MemoryHigh: '192M' },
  },
  {
    why: 'details for support, on a screen that can be photographed',
    units: [...INSTALLING, ...BEFORE_KUBELET],
    says: { StandardOutput: 'journal+console' },
  },
  {
    why: 'the console shows plain words and not its log',
    units: PROGRESS,
    says: { StandardError: 'tty', TTYPath: '/dev/console' },
  },
  {
    why: 'what is wrong with the network is seen without one',
    units: ['live/sno-network'],
    says: { StandardError: 'journal+console' },
  },
  {
    why: 'a crash of the kubelet is no end of the host',
    units: KUBELETS,
    says: { Restart: 'always', RestartSec: '2' },
  },
  {
    why: 'containers outlive a restart of the kubelet',
    units: KUBELETS,
    says: { KillMode: 'process' },
  },
  {
    why: 'the kernel kills the kubelet last: it frees the memory of others',
    units: KUBELETS,
    says: { OOMScoreAdjust: '-999' },
  },
  {
    why: 'the live kubelet knows no API server: the snapshot must hold no Node of the live stage',
    units: ['live/kubelet'],
    says: {
      ExecStart: '/var/lib/sno-agents/bin/kubelet --config=/etc/kubernetes/kubelet-live.yaml',
    },
  },
  {
    why: 'it registers with the address that the certificates have',
    units: ['installed/kubelet'],
    says: {
      EnvironmentFile: '/etc/sno-agents/kubelet.env',
      ExecStart:
        '/var/lib/sno-agents/bin/kubelet --config=/etc/kubernetes/kubelet.yaml --kubeconfig=/var/lib/kubelet/kubeconfig --node-ip=$\u007bKUBELET_NODE_IPS}',
    },
  },
  {
    why: 'it is ready when it says so, and what comes after it finds it running',
    units: ['installed/kubelet'],
    says: { Type: 'notify' },
  },
  {
    why: 'the copy that is run is the one that was checked',
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
    why: 'errors are retried within bounds, nothing but http and https is followed, and only what was checked can be run',
    units: ['live/by-url/sno-executable'],
    says: {
      EnvironmentFile: '-/etc/sno-agents/proxy.env',
      ExecStart: [
        [
          '/usr/bin/curl --disable --config /etc/sno-agents/executable.curl --no-progress-meter',
          '--fail --globoff --location --max-redirs 5 --proto =http,https --connect-timeout 30',
          '--speed-limit 1024 --speed-time 60 --retry 100 --retry-delay 5 --retry-max-time 600',
          `--retry-all-errors --output ${AGENTS}`,
        ].join(' '),
        DIGEST,
        `/usr/bin/chmod 0755 ${AGENTS}`,
      ],
      TimeoutStartSec: '1800',
    },
  },
  {
    why: 'systemd may not run what has the label of /var',
    units: ['sno-label'],
    says: { ExecStart: `/usr/bin/chcon --type=bin_t ${AGENTS}`, TimeoutStartSec: '30' },
  },
  {
    why: 'NetworkManager answers up to a second after it is on the bus; an attempt before would fail',
    units: ['live/sno-network'],
    says: {
      ExecStartPre:
        "/bin/sh -c 'until busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager State >/dev/null 2>&1; do sleep 0.1; done'",
      ExecStart: '/usr/bin/nmstatectl apply /etc/sno-agents/network.yml',
    },
  },
  {
    why: 'an adapter can come late, but each attempt takes the network down: three, and an end',
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
