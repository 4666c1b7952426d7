import { renewalRequirements } from './renewal-requirements.ts';
import {
  BEFORE_KUBELET,
  FROM_DISK,
  IN_PLACE,
  INSTALLING,
  KUBELETS,
  ON_DEMAND,
  REPLACING,
  type Requirement,
  WAITING,
} from './requirement.ts';

const REPORTING = ['live/approve-csr', 'live/progress'] as const;
const NEEDS_EXECUTABLE = ['live/bootkube', 'live/install-to-disk', ...REPORTING] as const;

/** What starts which unit, after and before what, and under which conditions. */
export const orderRequirements: readonly Requirement[] = [
  {
    why: 'nothing runs the executable before it is installed and verified',
    units: NEEDS_EXECUTABLE,
    says: { Requires: ['sno-executable.service'], After: ['sno-executable.service'] },
  },
  {
    why: 'SELinux does not let systemd run an executable without the label',
    units: ['sno-label'],
    says: {
      After: ['sno-executable.service'],
      Before: [
        ...['bootkube.service', 'install-to-disk.service', 'approve-csr.service'],
        ...['progress.service', 'sno-payload.service', 'aiokube.service', 'sno-worker.service'],
        'reconfigure.service',
      ],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'the same, where the unit itself runs the executable first',
    units: [
      ...['live/bootkube', 'installed/sno-payload', 'installed/openshift/sno-payload'],
      ...[...FROM_DISK, IN_PLACE],
    ],
    says: { Wants: ['sno-label.service'] },
  },
  {
    why: 'labelled before it is run',
    units: [
      ...['installed/sno-payload', 'installed/openshift/sno-payload', 'installed/progress'],
      ...[...FROM_DISK, IN_PLACE],
    ],
    says: { After: ['sno-label.service'] },
  },
  {
    why: 'a host without a live medium installs it at its first boot; a failure to do so is retried',
    units: ['installed/progress', ...FROM_DISK, IN_PLACE],
    says: { After: ['sno-executable.service'] },
  },
  {
    why: 'started at every boot until it removes itself, also after the other unit is deleted',
    units: [...FROM_DISK, IN_PLACE],
    says: { Wants: ['sno-executable.service'], WantedBy: ['multi-user.target'] },
  },
  {
    why: 'once installed it stays, and the medium may be gone: no failure then',
    units: ['aio/sno-executable'],
    says: {
      Wants: ['run-media-iso.mount'],
      After: ['run-media-iso.mount'],
      ConditionPathExists: [
        '/etc/sno-agents/executable.sha256',
        '!/var/lib/sno-agents/bin/sno-agents',
      ],
    },
  },
  {
    why: 'once installed it stays; the network of the site comes first',
    units: ['aio/by-url/sno-executable'],
    says: {
      Wants: ['network-online.target'],
      After: ['network-online.target', 'sno-network.service'],
      ConditionPathExists: [
        ...['/etc/sno-agents/executable.sha256', '/etc/sno-agents/executable.curl'],
        '!/var/lib/sno-agents/bin/sno-agents',
      ],
    },
  },
  {
    why: 'a disk that was half completed is completed before anything of the installed host starts',
    units: [IN_PLACE],
    says: {
      Before: [
        ...['sno-payload.service', 'sno-restore.service', 'sno-certificates.service'],
        ...['kubelet.service', 'bootkube.service', 'progress.service'],
      ],
    },
  },
  {
    why: 'chcon does not work without SELinux',
    units: ['sno-label'],
    says: { ConditionSecurity: 'selinux' },
  },
  {
    why: 'the installation starts the bootstrap',
    units: ['live/install-to-disk', 'live/approve-csr', 'live/progress'],
    says: { Wants: ['bootkube.service'], WantedBy: ['multi-user.target'] },
  },
  {
    why: 'it must not read the status of an earlier run of bootkube',
    units: ['live/install-to-disk'],
    says: { After: ['bootkube.service'] },
  },
  {
    why: 'it runs containers and uses the network',
    units: ['live/bootkube', ...FROM_DISK, IN_PLACE],
    says: {
      Wants: ['network-online.target', 'containerd.service', 'crio.service'],
      After: ['network-online.target', 'containerd.service', 'crio.service'],
    },
  },
  {
    why: 'the agent that starts the kubelet for the first time has just done it',
    units: ['installed/sno-payload', 'installed/sno-certificates'],
    says: { ConditionPathExists: '!/run/sno-agents/kubelet-prepared' },
  },
  {
    why: 'a finished bootstrap does not start again: its control plane was stopped on purpose',
    units: ['live/bootkube', 'live/approve-csr'],
    says: { ConditionPathExists: '!/opt/openshift/.bootkube.done' },
  },
  {
    why: 'after the installation there is no progress to show',
    units: ['live/progress'],
    says: { ConditionPathExists: '!/opt/openshift/.install-to-disk.done' },
  },
  {
    why: 'the same on the installed host',
    units: ['installed/progress'],
    says: {
      ConditionPathExists: '!/var/lib/sno-agents/record.json',
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'the logs of a failed host are collected',
    units: [...INSTALLING, 'installed/sno-payload', 'installed/sno-restore', ...REPLACING],
    says: { OnFailure: ['sno-gather.service'] },
  },
  {
    why: 'it does not fail, and with it the units that start it, when there is no executable',
    units: ['live/sno-gather', 'installed/sno-gather'],
    says: { ConditionFileIsExecutable: '/var/lib/sno-agents/bin/sno-agents' },
  },
  {
    why: 'the kubelet would start with an empty database, with expired certificates or without images',
    units: BEFORE_KUBELET,
    says: { Before: ['kubelet.service'], RequiredBy: ['kubelet.service'] },
  },
  {
    why: 'it runs the verified executable and programs of the payload',
    units: ['installed/sno-certificates', 'installed/sno-restore'],
    says: { Requires: ['sno-payload.service'], After: ['sno-payload.service'] },
  },
  {
    why: 'it imports images from mounted file systems',
    units: ['installed/sno-payload'],
    says: {
      Wants: ['containerd.service', 'crio.service'],
      After: ['containerd.service', 'crio.service', 'local-fs.target'],
    },
  },
  {
    why: 'a wrong clock would sign with wrong dates, or let a manifest expire',
    units: ['installed/sno-certificates', ...WAITING, ...ON_DEMAND, 'installed/sno-rotate'],
    says: { After: ['time-sync.target'] },
  },
  {
    why: 'the installation, rotations and updates replace the same files; it calls a running control plane, which a restore or a change of the identity stops',
    units: ['installed/sno-renew'],
    says: {
      ConditionPathExists: [
        '/var/lib/sno-agents/record.json',
        '!/etc/sno-agents/sealed',
        '!/var/lib/sno-agents/sno-rotate/request.json',
        '!/var/lib/sno-agents/sno-backup-restore/request.json',
        '!/var/lib/sno-agents/sno-identity/request.json',
        '!/var/lib/sno-agents/sno-update/request.json',
        '!/var/lib/sno-agents/reconfigure/request.json',
      ],
      After: ['kubelet.service', 'sno-certificates.service'],
    },
  },
  {
    why: 'before the end of the installation there is nothing to back up, etcd is stopped while a backup is restored or the identity changes, a rotation replaces the keys, and an update makes its own',
    units: ['installed/sno-backup'],
    says: {
      ConditionPathExists: [
        '/var/lib/sno-agents/record.json',
        '!/etc/sno-agents/sealed',
        '!/var/lib/sno-agents/sno-backup-restore/request.json',
        '!/var/lib/sno-agents/sno-rotate/request.json',
        '!/var/lib/sno-agents/sno-identity/request.json',
        '!/var/lib/sno-agents/sno-update/request.json',
        '!/var/lib/sno-agents/reconfigure/request.json',
      ],
      After: ['kubelet.service'],
    },
  },
  ...['sno-backup-restore', 'sno-identity'].map((agent) => ({
    why: 'what was interrupted is continued at the next boot; the kubelet stops and starts static pods',
    units: [`installed/${agent}`],
    says: {
      ConditionPathExists: `/var/lib/sno-agents/${agent}/request.json`,
      After: ['containerd.service', 'crio.service', 'kubelet.service'],
      WantedBy: ['multi-user.target'],
    },
  })),
  {
    why: 'the same, an hour before: certificates are renewed after the backup',
    units: ['installed/sno-backup.timer'],
    says: {
      OnCalendar: '*-*-* 01:00:00',
      Persistent: 'yes',
      RandomizedDelaySec: '2h',
      WantedBy: ['timers.target'],
    },
  },
  ...renewalRequirements,
  {
    why: "it compares the host's name and address, which must be final",
    units: ['installed/sno-restore'],
    says: {
      Wants: ['network-online.target'],
      After: ['network-online.target', 'machine-config-daemon-firstboot.service'],
    },
  },
  {
    why: "it starts containers with the host's address",
    units: KUBELETS,
    says: {
      Wants: ['containerd.service', 'crio.service'],
      After: ['containerd.service', 'crio.service', 'network-online.target'],
    },
  },
  {
    why: 'bootkube starts it once its program is installed',
    units: ['live/kubelet'],
    says: { ConditionPathExists: '/var/lib/sno-agents/bin/kubelet' },
  },
  {
    why: 'the node starts at every boot',
    units: ['installed/kubelet'],
    says: { Wants: ['network-online.target'], WantedBy: ['multi-user.target'] },
  },
  {
    why: 'it waits for the API, which the kubelet starts',
    units: ['installed/bootkube'],
    says: {
      Wants: ['kubelet.service'],
      After: ['kubelet.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'until the end of the installation bootkube applies the manifests',
    units: ['installed/sno-deferred'],
    says: {
      ConditionPathExists: '/var/lib/sno-agents/record.json',
      After: ['kubelet.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'it continues after a restart of the host, needs the keys and the control plane of a finished installation, and has nothing to do without a list',
    units: ['installed/sno-approve'],
    says: {
      ConditionPathExists: '/var/lib/sno-agents/record.json',
      ConditionDirectoryNotEmpty: '/etc/sno-agents/workers.d',
      After: ['kubelet.service', 'sno-certificates.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'an entry starts it; nobody but root reads or writes the list, which the unit creates',
    units: ['installed/sno-approve.path'],
    says: {
      PathChanged: '/etc/sno-agents/workers.d',
      MakeDirectory: 'yes',
      DirectoryMode: '0700',
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'all its clients find the API there, from the start of the host',
    units: ['worker/sno-api.socket'],
    says: { ListenStream: '127.0.0.1:6443', WantedBy: ['sockets.target'] },
  },
  {
    why: 'it gets its connections from the socket, and connects to another host',
    units: ['worker/sno-api'],
    says: {
      Requires: ['sno-api.socket'],
      Wants: ['network-online.target'],
      After: ['sno-api.socket', 'network-online.target'],
    },
  },
  {
    why: 'it reaches the API by that socket',
    units: ['worker/sno-worker'],
    says: { Wants: ['sno-api.socket'], After: ['sno-api.socket'] },
  },
  {
    why: 'the medium is mounted, and the Ignition has the digest of the executable',
    units: ['live/sno-executable'],
    says: {
      RequiresMountsFor: '/run/media/iso',
      ConditionPathExists: '/etc/sno-agents/executable.sha256',
    },
  },
  {
    why: 'a live system that runs from memory has released its medium: it says so, and does not search',
    units: ['live/sno-executable'],
    says: { AssertKernelCommandLine: '!coreos.liveiso.fromram' },
  },
  {
    why: "the site's network comes first: nothing can be fetched without it",
    units: ['live/by-url/sno-executable'],
    says: {
      Wants: ['network-online.target'],
      After: ['network-online.target', 'sno-network.service'],
      ConditionPathExists: ['/etc/sno-agents/executable.sha256', '/etc/sno-agents/executable.curl'],
    },
  },
  {
    why: 'addresses, and everything that needs them, come after the configuration of the site',
    units: ['live/sno-network'],
    says: {
      Wants: ['NetworkManager.service'],
      After: ['NetworkManager.service', 'dbus.service'],
      Before: [
        ...['NetworkManager-wait-online.service', 'network-online.target'],
        ...['sno-executable.service', 'bootkube.service', 'install-to-disk.service'],
      ],
      ConditionPathExists: '/etc/sno-agents/network.yml',
      WantedBy: ['multi-user.target'],
    },
  },
];
