import {
  ADDRESS,
  AGENT_UNITS,
  BACKUP_PUSH,
  BY_URL,
  EXECUTABLES,
  except,
  FROM_DISK,
  FROM_MEDIUM,
  GATHER,
  INSTALLING,
  ON_DEMAND,
  ON_TRIAL,
  PLANNED,
  PROGRESS,
  REPLACING,
  REPORT,
  type Requirement,
  SANDBOXED,
  SITE_URL,
  SYSTEM_PROGRAMS,
  TRIAL,
  UNSEAL,
  UPDATE,
  WAITING,
  WORKER_TRUST,
} from './requirement.ts';

const MOUNTS_DISKS = ['live/bootkube', 'live/install-to-disk'] as const;
/** They read the host's name after their start: in a UTS namespace of their own (ProtectHostname=), DHCP would not change it. */
const FOLLOWS_HOSTNAME = ['live/bootkube', 'live/approve-csr', ...FROM_DISK] as const;
const READS_ALL_FILES = 'installed/bootkube';

/** What each unit may access on the host. */
export const sandboxRequirements: readonly Requirement[] = [
  {
    why: 'a vulnerability in an agent must not escalate privileges',
    units: [...SANDBOXED, UNSEAL],
    says: {
      NoNewPrivileges: 'yes',
      RestrictSUIDSGID: 'yes',
      LockPersonality: 'yes',
      RestrictNamespaces: 'yes',
      SystemCallFilter: '@system-service',
      // Without it 32-bit system calls pass the filter.
      SystemCallArchitectures: 'native',
    },
  },
  {
    why: 'a library that tries a forbidden system call gets an error; by default the process is killed',
    units: [...SANDBOXED, UNSEAL],
    says: { SystemCallErrorNumber: 'EPERM' },
  },
  {
    why: 'the host is read-only, except for what is named',
    units: SANDBOXED,
    says: {
      ProtectSystem: 'strict',
      ProtectClock: 'yes',
      ProtectControlGroups: 'yes',
      ProtectKernelLogs: 'yes',
      ProtectKernelModules: 'yes',
      ProtectKernelTunables: 'yes',
      PrivateMounts: 'yes',
      RestrictRealtime: 'yes',
    },
  },
  {
    why: "it cannot change the host's name, and does not wait for one",
    units: except(SANDBOXED, ...FOLLOWS_HOSTNAME),
    says: { ProtectHostname: 'yes' },
  },
  {
    why: 'files without an explicit mode may contain secrets',
    units: [...SANDBOXED, UNSEAL],
    says: { UMask: '0077' },
  },
  {
    why: 'only the devices that are named',
    units: [...SANDBOXED, UNSEAL],
    says: { DevicePolicy: 'closed' },
  },
  {
    why: 'only units that access disks or all consoles see device nodes',
    units: except(SANDBOXED, ...MOUNTS_DISKS, ...GATHER, ...PROGRESS),
    says: { PrivateDevices: 'yes' },
  },
  {
    why: 'it mounts the target disk to inspect it and to copy to it',
    units: MOUNTS_DISKS,
    says: {
      CapabilityBoundingSet: ['CAP_SYS_ADMIN'],
      SystemCallFilter: '@mount',
    },
  },
  {
    why: 'files and folders of other owners, also those that are not writable for root',
    units: [...INSTALLING, 'installed/sno-deferred', 'installed/sno-rotate', TRIAL, ...ON_TRIAL],
    says: { CapabilityBoundingSet: ['CAP_DAC_OVERRIDE'] },
  },
  {
    why: 'to prove that no key is left it reads all files of all users, also in /home, /root and /tmp',
    units: [READS_ALL_FILES],
    says: { CapabilityBoundingSet: ['CAP_DAC_READ_SEARCH'] },
  },
  {
    why: 'it has no access to home folders',
    units: except(SANDBOXED, READS_ALL_FILES, ...GATHER, UPDATE),
    says: { ProtectHome: 'yes' },
  },
  {
    why: 'it reads secrets everywhere to redact them, and changes nothing',
    units: GATHER,
    says: { ProtectHome: 'read-only', CapabilityBoundingSet: ['CAP_DAC_READ_SEARCH'] },
  },
  {
    why: 'it reports the owners of sockets and processes, and the firewall rules',
    units: GATHER,
    says: { CapabilityBoundingSet: ['CAP_SYS_PTRACE', 'CAP_NET_ADMIN'] },
  },
  {
    why: 'it shares no files with other services through /tmp',
    units: except(SANDBOXED, READS_ALL_FILES, UPDATE),
    says: { PrivateTmp: 'yes' },
  },
  {
    why: 'it does not see processes of other users',
    units: except(SANDBOXED, ...GATHER),
    says: { ProtectProc: 'invisible' },
  },
  {
    why: 'it needs only processes in /proc; agents also need the uptime and the boot id',
    units: [...EXECUTABLES, 'worker/sno-api'],
    says: { ProcSubset: 'pid' },
  },
  {
    why: 'it needs neither other users nor capabilities',
    units: [
      'installed/sno-certificates',
      'installed/sno-restore',
      ...PROGRESS,
      'live/approve-csr',
      'installed/sno-backup',
      'installed/sno-approve',
      'sno-label',
      'installed/openshift/sno-payload',
      'worker/sno-api',
      ...EXECUTABLES,
    ],
    says: { PrivateUsers: 'yes', CapabilityBoundingSet: '' },
  },
  {
    why: 'it configures network adapters',
    units: ['live/sno-network'],
    says: { CapabilityBoundingSet: ['CAP_NET_ADMIN'] },
  },
  {
    why: 'only V8 generates code at run time',
    units: SYSTEM_PROGRAMS,
    says: { MemoryDenyWriteExecute: 'yes' },
  },
  {
    why: 'it needs no sockets',
    units: ['sno-label', 'installed/openshift/sno-payload', ...FROM_MEDIUM],
    says: { PrivateNetwork: 'yes', RestrictAddressFamilies: ['none'] },
  },
  {
    why: 'locks, systemd, journald and the container runtime use local sockets',
    units: [...AGENT_UNITS, UNSEAL, 'live/sno-network', 'worker/sno-api', ...BY_URL],
    says: { RestrictAddressFamilies: ['AF_UNIX'] },
  },
  {
    why: 'addresses, links and devices are read by netlink',
    units: [
      ...INSTALLING,
      ...GATHER,
      ...['installed/sno-restore', 'installed/sno-renew', 'installed/sno-approve'],
      'live/approve-csr',
      'live/sno-network',
      'worker/sno-api',
      'installed/sno-identity',
      ADDRESS,
      ...BY_URL,
      ...ON_TRIAL,
    ],
    says: { RestrictAddressFamilies: ['AF_NETLINK'] },
  },
  {
    why: 'it uses IPv4 for the API or the network; the API is at 127.0.0.1 in IPv6 clusters too',
    units: [
      ...GATHER,
      'live/bootkube',
      'live/approve-csr',
      'live/sno-network',
      'worker/sno-api',
      ...BY_URL,
      ...FROM_DISK,
      'installed/bootkube',
      ...WAITING,
      ...ON_DEMAND,
      'installed/sno-rotate',
      ...ON_TRIAL,
    ],
    says: { RestrictAddressFamilies: ['AF_INET'] },
  },
  {
    why: 'it connects to addresses that are not known in advance',
    units: [
      'live/bootkube',
      ...FROM_DISK,
      ...GATHER,
      'live/sno-network',
      'worker/sno-api',
      ...BY_URL,
      ...ON_TRIAL,
    ],
    says: { RestrictAddressFamilies: ['AF_INET6'] },
  },
  {
    why: 'it makes no connections beyond the host',
    units: except(
      [...SANDBOXED, UNSEAL],
      'live/bootkube',
      ...FROM_DISK,
      ...GATHER,
      'live/sno-network',
      'worker/sno-api',
      ...BY_URL,
      ...[...ON_TRIAL, REPORT, SITE_URL, BACKUP_PUSH],
    ),
    says: { IPAddressDeny: ['any'] },
  },
  {
    why: 'the control plane of this host',
    units: [
      'live/approve-csr',
      'installed/bootkube',
      ...WAITING,
      ...ON_DEMAND,
      'installed/sno-rotate',
    ],
    says: { IPAddressAllow: ['localhost'] },
  },
  {
    why: 'its state, its service record and its status',
    units: except(PLANNED, ...WAITING, 'installed/sno-backup', WORKER_TRUST, REPORT, BACKUP_PUSH),
    says: { ReadWritePaths: ['/var/lib', '/var/log', '/run'] },
  },
  {
    why: 'the same, and its backups; it only reads keys and lists, and calls etcd or the API',
    units: ['installed/sno-backup', 'installed/sno-approve'],
    says: { ReadWritePaths: ['/var/lib/sno-agents', '/var/log', '/run'] },
  },
  {
    why: 'the same, and what it finally deletes: identity, unit and links',
    units: ['installed/sno-deferred'],
    says: {
      ReadWritePaths: [
        ...['/var/lib/sno-agents', '/var/log', '/run'],
        ...['/etc/sno-agents', '/etc/systemd/system', '-/usr/local/bin'],
      ],
    },
  },
  {
    why: 'configuration, manifests and static pods; files in /opt that other software reads',
    units: ['live/bootkube'],
    says: { ReadWritePaths: ['/etc/kubernetes', '/etc/cni', '/etc/sno-agents', '/opt'] },
  },
  {
    why: 'the markers in /opt',
    units: ['live/install-to-disk'],
    says: { ReadWritePaths: ['/opt'] },
  },
  {
    why: 'it deletes the files of the ledger wherever they are, those of Ignition on /boot, and its own links',
    units: ['installed/bootkube', ...FROM_DISK],
    says: { ReadWritePaths: ['/etc', '/var/opt', '/opt', '/boot', '-/usr/local/bin'] },
  },
  {
    why: 'host binaries and CNI plugins',
    units: ['installed/sno-payload'],
    says: { ReadWritePaths: ['/opt'] },
  },
  {
    why: 'it replaces certificates where they are used',
    units: ['installed/sno-certificates', 'installed/sno-renew', 'installed/sno-rotate'],
    says: { ReadWritePaths: ['/etc/kubernetes', '/etc/sno-agents'] },
  },
  {
    why: 'the same, and the drop-in that keeps the kubelet from the API meanwhile',
    units: ['installed/sno-identity'],
    says: { ReadWritePaths: ['/etc/kubernetes', '/etc/sno-agents', '/etc/systemd/system'] },
  },
  {
    why: 'it needs no capabilities; systemd restarts the kubelet only for root of the host',
    units: [...REPLACING, 'installed/sno-renew', ADDRESS],
    says: { CapabilityBoundingSet: '' },
  },
  {
    why: 'it compares the unpacked files of images, which belong to the users of the images; systemd runs podman and reloads CRI-O only for root of the host',
    units: ['installed/sno-payload'],
    says: { CapabilityBoundingSet: ['CAP_DAC_READ_SEARCH'] },
  },
  {
    why: 'CRI-O reads there which images are pinned',
    units: ['live/bootkube', 'installed/sno-payload'],
    says: { ReadWritePaths: ['-/etc/crio/crio.conf.d'] },
  },
  {
    why: 'it stops the control plane by its manifests, and puts missing keys back',
    units: ['installed/sno-backup-restore'],
    says: { ReadWritePaths: ['/etc/kubernetes'] },
  },
  {
    why: "it places etcd's manifest",
    units: ['installed/sno-restore'],
    says: { ReadWritePaths: ['/etc/kubernetes'] },
  },
  {
    why: 'the bundle and the work folder',
    units: GATHER,
    says: { ReadWritePaths: ['/var/log', '/run'] },
  },
  {
    why: 'it has no files, and a user of its own',
    units: ['worker/sno-api'],
    says: { DynamicUser: 'yes' },
  },
  {
    why: 'it labels the executable',
    units: ['sno-label'],
    says: { ReadWritePaths: ['/var/lib/sno-agents'] },
  },
  {
    why: 'scripts that nmstate writes for NetworkManager, if the folder exists',
    units: ['live/sno-network'],
    says: { ReadWritePaths: ['-/etc/NetworkManager/dispatcher.d'] },
  },
  {
    why: 'the folder of the executable, which does not exist yet',
    units: EXECUTABLES,
    says: { StateDirectory: 'sno-agents' },
  },
  {
    why: 'the server of the executable cannot fill the memory or the disk',
    units: BY_URL,
    says: { LimitFSIZE: '1G' },
  },
];
