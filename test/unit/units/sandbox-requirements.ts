import {
  AGENT_UNITS,
  BEFORE_KUBELET,
  EXECUTABLES,
  except,
  GATHER,
  INSTALLING,
  PLANNED,
  PROGRESS,
  type Requirement,
  SANDBOXED,
  SYSTEM_PROGRAMS,
} from './requirement.ts';

const MOUNTS_DISKS = ['live/bootkube', 'live/install-to-disk'] as const;
const READS_ALL_FILES = 'installed/bootkube';

/** What each unit may reach of the host, and nothing else. */
export const sandboxRequirements: readonly Requirement[] = [
  {
    why: 'a flaw in an agent must not become a way to more rights',
    units: SANDBOXED,
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
    units: SANDBOXED,
    says: { SystemCallErrorNumber: 'EPERM' },
  },
  {
    why: 'the host stays as it is, but for what is named',
    units: SANDBOXED,
    says: {
      ProtectSystem: 'strict',
      ProtectClock: 'yes',
      ProtectControlGroups: 'yes',
      ProtectHostname: 'yes',
      ProtectKernelLogs: 'yes',
      ProtectKernelModules: 'yes',
      ProtectKernelTunables: 'yes',
      PrivateMounts: 'yes',
      RestrictRealtime: 'yes',
    },
  },
  {
    why: 'whatever it writes without a mode of its own may hold a secret',
    units: SANDBOXED,
    says: { UMask: '0077' },
  },
  {
    why: 'no device but those that are named',
    units: SANDBOXED,
    says: { DevicePolicy: 'closed' },
  },
  {
    why: 'device nodes are not even seen, except by what looks at disks',
    units: except(SANDBOXED, ...MOUNTS_DISKS, ...GATHER),
    says: { PrivateDevices: 'yes' },
  },
  {
    why: 'it mounts the target disk, to look at it and to copy to it',
    units: MOUNTS_DISKS,
    says: {
      CapabilityBoundingSet: ['CAP_SYS_ADMIN'],
      DeviceAllow: 'block-* rw',
      SystemCallFilter: '@mount',
    },
  },
  {
    why: "folders and files of others, which root's own rights do not open",
    units: [...INSTALLING, 'installed/sno-deferred'],
    says: { CapabilityBoundingSet: ['CAP_DAC_OVERRIDE'] },
  },
  {
    why: 'to prove that no key is left it reads every file of every user, also in /home, /root and /tmp',
    units: [READS_ALL_FILES],
    says: { CapabilityBoundingSet: ['CAP_DAC_READ_SEARCH'] },
  },
  {
    why: 'people’s files are none of its business',
    units: except(SANDBOXED, READS_ALL_FILES, ...GATHER),
    says: { ProtectHome: 'yes' },
  },
  {
    why: 'it reads secrets wherever they are, to redact them, and changes none',
    units: GATHER,
    says: { ProtectHome: 'read-only', CapabilityBoundingSet: ['CAP_DAC_READ_SEARCH'] },
  },
  {
    why: 'it says whose sockets and processes they are, and lists the rules of the firewall',
    units: GATHER,
    says: { CapabilityBoundingSet: ['CAP_SYS_PTRACE', 'CAP_NET_ADMIN'] },
  },
  {
    why: 'no file of another service is reached, or planted, through /tmp',
    units: except(SANDBOXED, READS_ALL_FILES),
    says: { PrivateTmp: 'yes' },
  },
  {
    why: 'processes of other users are not seen',
    units: except(SANDBOXED, ...GATHER),
    says: { ProtectProc: 'invisible' },
  },
  {
    why: 'it needs nothing of /proc but processes; agents count deadlines by files beside them',
    units: EXECUTABLES,
    says: { ProcSubset: 'pid' },
  },
  {
    why: 'it has no user but root, and none of root’s rights over the host',
    units: [...BEFORE_KUBELET, ...PROGRESS, 'live/approve-csr', 'sno-label', ...EXECUTABLES],
    says: { PrivateUsers: 'yes', CapabilityBoundingSet: '' },
  },
  {
    why: 'it configures network adapters',
    units: ['live/sno-network'],
    says: { CapabilityBoundingSet: ['CAP_NET_ADMIN'] },
  },
  {
    why: 'only V8 has to make code at run time',
    units: SYSTEM_PROGRAMS,
    says: { MemoryDenyWriteExecute: 'yes' },
  },
  {
    why: 'it has no use for any socket',
    units: ['sno-label', 'live/sno-executable'],
    says: { PrivateNetwork: 'yes', RestrictAddressFamilies: ['none'] },
  },
  {
    why: 'locks, systemd, journald and the runtime are local sockets',
    units: [...AGENT_UNITS, 'live/sno-network', 'live/by-url/sno-executable'],
    says: { RestrictAddressFamilies: ['AF_UNIX'] },
  },
  {
    why: 'addresses, links and devices are read by netlink',
    units: [
      ...INSTALLING,
      ...GATHER,
      'installed/sno-restore',
      'live/approve-csr',
      'live/sno-network',
      'live/by-url/sno-executable',
    ],
    says: { RestrictAddressFamilies: ['AF_NETLINK'] },
  },
  {
    why: 'it asks the API or the network in IPv4; the API is at 127.0.0.1 in IPv6 clusters too',
    units: [
      ...GATHER,
      'live/bootkube',
      'live/approve-csr',
      'live/sno-network',
      'live/by-url/sno-executable',
      'installed/bootkube',
      'installed/sno-deferred',
    ],
    says: { RestrictAddressFamilies: ['AF_INET'] },
  },
  {
    why: 'it reaches hosts whose addresses nobody knows beforehand',
    units: ['live/bootkube', ...GATHER, 'live/sno-network', 'live/by-url/sno-executable'],
    says: { RestrictAddressFamilies: ['AF_INET6'] },
  },
  {
    why: 'nothing beyond the host is reached',
    units: except(
      SANDBOXED,
      'live/bootkube',
      ...GATHER,
      'live/sno-network',
      'live/by-url/sno-executable',
    ),
    says: { IPAddressDeny: ['any'] },
  },
  {
    why: 'the API server of this host',
    units: ['live/approve-csr', 'installed/bootkube', 'installed/sno-deferred'],
    says: { IPAddressAllow: ['localhost'] },
  },
  {
    why: 'its state, its service record and its status',
    units: except(PLANNED, 'installed/sno-deferred'),
    says: { ReadWritePaths: ['/var/lib', '/var/log', '/run'] },
  },
  {
    why: 'the same, and what it removes at its end: identity, unit and links',
    units: ['installed/sno-deferred'],
    says: {
      ReadWritePaths: [
        ...['/var/lib/sno-agents', '/var/log', '/run'],
        ...['/etc/sno-agents', '/etc/systemd/system', '-/usr/local/bin'],
      ],
    },
  },
  {
    why: 'configuration, manifests and static pods; assets and markers that other software reads',
    units: ['live/bootkube'],
    says: { ReadWritePaths: ['/etc/kubernetes', '/etc/cni', '/etc/sno-agents', '/opt'] },
  },
  {
    why: 'the markers in /opt',
    units: ['live/install-to-disk'],
    says: { ReadWritePaths: ['/opt'] },
  },
  {
    why: 'it deletes files of the ledger wherever they are, what Ignition left on /boot, and its own links',
    units: ['installed/bootkube'],
    says: { ReadWritePaths: ['/etc', '/var/opt', '/opt', '/boot', '-/usr/local/bin'] },
  },
  {
    why: 'host binaries and CNI plugins',
    units: ['installed/sno-payload'],
    says: { ReadWritePaths: ['/opt'] },
  },
  {
    why: 'it replaces certificates where they are used',
    units: ['installed/sno-certificates'],
    says: { ReadWritePaths: ['/etc/kubernetes', '/etc/sno-agents'] },
  },
  {
    why: "it places etcd's manifest",
    units: ['installed/sno-restore'],
    says: { ReadWritePaths: ['/etc/kubernetes'] },
  },
  {
    why: 'the bundle, and where it collects',
    units: GATHER,
    says: { ReadWritePaths: ['/var/log', '/run'] },
  },
  {
    why: 'the executable that it labels',
    units: ['sno-label'],
    says: { ReadWritePaths: ['/var/lib/sno-agents'] },
  },
  {
    why: 'scripts that nmstate gives to NetworkManager, where there is such a folder',
    units: ['live/sno-network'],
    says: { ReadWritePaths: ['-/etc/NetworkManager/dispatcher.d'] },
  },
  {
    why: 'where the executable goes; it does not exist yet',
    units: EXECUTABLES,
    says: { StateDirectory: 'sno-agents' },
  },
  {
    why: 'whoever serves the executable cannot fill the memory',
    units: ['live/by-url/sno-executable'],
    says: { LimitFSIZE: '1G' },
  },
];
