import { BEFORE_KUBELET, INSTALLING, KUBELETS, type Requirement } from './requirement.ts';

const NEEDS_EXECUTABLE = [
  'live/bootkube',
  'live/install-to-disk',
  'live/approve-csr',
  'live/progress',
] as const;

/** What starts which unit, after and before what, and under which conditions. */
export const orderRequirements: readonly Requirement[] = [
  {
    why: 'nothing runs the executable before it is there and checked',
    units: NEEDS_EXECUTABLE,
    says: { Requires: ['sno-executable.service'], After: ['sno-executable.service'] },
  },
  {
    why: 'SELinux keeps systemd from running what has no label yet',
    units: ['sno-label'],
    says: {
      After: ['sno-executable.service'],
      Before: [
        ...['bootkube.service', 'install-to-disk.service', 'approve-csr.service'],
        ...['progress.service', 'sno-payload.service'],
      ],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'the same, as its own first program runs the executable',
    units: ['live/bootkube', 'installed/sno-payload'],
    says: { Wants: ['sno-label.service'] },
  },
  {
    why: 'labelled before it is run',
    units: ['installed/sno-payload', 'installed/progress'],
    says: { After: ['sno-label.service'] },
  },
  {
    why: 'without SELinux there is no chcon that would work',
    units: ['sno-label'],
    says: { ConditionSecurity: 'selinux' },
  },
  {
    why: 'the installation is what starts the bootstrap',
    units: ['live/install-to-disk', 'live/approve-csr', 'live/progress'],
    says: { Wants: ['bootkube.service'], WantedBy: ['multi-user.target'] },
  },
  {
    why: 'its first status must not be read before bootkube has replaced that of its last run',
    units: ['live/install-to-disk'],
    says: { After: ['bootkube.service'] },
  },
  {
    why: 'it runs containers and asks the network',
    units: ['live/bootkube'],
    says: {
      Wants: ['network-online.target', 'containerd.service'],
      After: ['network-online.target', 'containerd.service'],
    },
  },
  {
    why: 'a bootstrap that is finished is not begun again: its control plane has stopped on purpose',
    units: ['live/bootkube', 'live/approve-csr'],
    says: { ConditionPathExists: '!/opt/openshift/.bootkube.done' },
  },
  {
    why: 'the installation is over, there is nothing to show any more',
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
    why: 'whoever finds a failed host finds its logs collected',
    units: [...INSTALLING, 'installed/sno-payload', 'installed/sno-restore'],
    says: { OnFailure: ['sno-gather.service'] },
  },
  {
    why: 'it fails none of the units that start it, not even without an executable',
    units: ['live/sno-gather', 'installed/sno-gather'],
    says: { ConditionFileIsExecutable: '/var/lib/sno-agents/bin/sno-agents' },
  },
  {
    why: 'the kubelet would start an empty database, or with expired certificates, or without images',
    units: BEFORE_KUBELET,
    says: { Before: ['kubelet.service'], RequiredBy: ['kubelet.service'] },
  },
  {
    why: 'it runs what the payload has, and the executable that was verified',
    units: ['installed/sno-certificates', 'installed/sno-restore'],
    says: { Requires: ['sno-payload.service'], After: ['sno-payload.service'] },
  },
  {
    why: 'it imports images, from file systems that are mounted',
    units: ['installed/sno-payload'],
    says: { Wants: ['containerd.service'], After: ['containerd.service', 'local-fs.target'] },
  },
  {
    why: 'a wrong clock would sign with wrong dates, or let a manifest expire',
    units: ['installed/sno-certificates', 'installed/sno-deferred'],
    says: { After: ['time-sync.target'] },
  },
  {
    why: 'it compares the name and address of the host, which have to be final',
    units: ['installed/sno-restore'],
    says: {
      Wants: ['network-online.target'],
      After: ['network-online.target', 'machine-config-daemon-firstboot.service'],
    },
  },
  {
    why: 'it starts containers, with the address of the host',
    units: KUBELETS,
    says: {
      Wants: ['containerd.service'],
      After: ['containerd.service', 'network-online.target'],
    },
  },
  {
    why: 'bootkube starts it when its program is there; it was enabled by no one',
    units: ['live/kubelet'],
    says: { ConditionPathExists: '/var/lib/sno-agents/bin/kubelet' },
  },
  {
    why: 'the node comes back at every boot',
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
    why: 'before the end of the installation its manifests are not its own yet',
    units: ['installed/sno-deferred'],
    says: {
      ConditionPathExists: '/var/lib/sno-agents/record.json',
      After: ['kubelet.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'the medium is mounted, and the Ignition says what the executable has to be',
    units: ['live/sno-executable'],
    says: {
      RequiresMountsFor: '/run/media/iso',
      ConditionPathExists: '/etc/sno-agents/executable.sha256',
    },
  },
  {
    why: "the site's own network comes first: nothing is fetched without it",
    units: ['live/by-url/sno-executable'],
    says: {
      Wants: ['network-online.target'],
      After: ['network-online.target', 'sno-network.service'],
      ConditionPathExists: ['/etc/sno-agents/executable.sha256', '/etc/sno-agents/executable.curl'],
    },
  },
  {
    why: 'the wait for addresses, and all that needs them, is for the configuration of the site',
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
