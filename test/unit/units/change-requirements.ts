import {
  ADDRESS,
  ON_DEMAND,
  ON_TRIAL,
  RECONFIGURE,
  type Requirement,
  TRIAL,
  UPDATE,
} from './requirement.ts';

/**
 * What starts the units by which a host is changed, after and before what, under which conditions, and what only
 * they need of their sandbox.
 */
export const changeRequirements: readonly Requirement[] = [
  {
    why: 'an administrator may have copied the update to a home folder',
    units: [UPDATE],
    says: { ProtectHome: 'read-only' },
  },
  {
    why: 'a change may have replaced any file of the configuration, and a link to a command',
    units: [TRIAL, UPDATE, RECONFIGURE],
    says: { ReadWritePaths: ['/etc', '-/usr/local/bin'] },
  },
  {
    why: 'files are put back before anything reads them; without a trial it starts nothing',
    units: [TRIAL],
    says: {
      ConditionPathExists: '/var/lib/sno-agents/sno-trial/trial.json',
      Wants: ['network-pre.target'],
      After: ['local-fs.target'],
      Before: [
        ...['network-pre.target', 'NetworkManager.service', 'sno-network.service'],
        ...['sno-payload.service', 'sno-certificates.service', 'kubelet.service'],
        ...['sno-backup-restore.service', 'sno-rotate.service', 'sno-update.service'],
        'reconfigure.service',
      ],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'systemd itself keeps the deadline of a trial, also in later boots',
    units: [`${TRIAL}.timer`],
    says: {
      ConditionPathExists: '/var/lib/sno-agents/sno-trial/trial.json',
      OnActiveSec: '1h',
      AccuracySec: '1s',
      WantedBy: ['timers.target'],
    },
  },
  {
    why: 'it continues a rotation after a restart of the host, and starts nothing without one',
    units: ['installed/sno-rotate'],
    says: {
      ConditionPathExists: '/var/lib/sno-agents/sno-rotate/request.json',
      After: ['kubelet.service', 'sno-certificates.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'it looks when the network is up at a boot',
    units: [ADDRESS],
    says: {
      Wants: ['network-online.target'],
      After: ['network-online.target'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'each renewal of a lease starts it: without news nothing is written or shown',
    units: [ADDRESS],
    says: { ExecCondition: '/var/lib/sno-agents/bin/sno-agents sno-address needed' },
  },
  {
    why: 'systemd listens for the addresses of interfaces, of IPv4 only, and keeps no message after a run',
    units: [`${ADDRESS}.socket`],
    says: { ListenNetlink: 'route 16', FlushPending: 'yes', WantedBy: ['sockets.target'] },
  },
  {
    why: 'the address may have moved while the identity changed, or what was said about it has ended',
    units: ['installed/sno-identity'],
    says: { OnSuccess: ['sno-address.service'] },
  },
  {
    why: 'it continues an update after a restart of the host, which a trial may have taken back; it may have to fetch it',
    units: [UPDATE],
    says: {
      ConditionPathExists: [
        '|/var/lib/sno-agents/sno-update/request.json',
        '|/var/lib/sno-agents/sno-update/wanted.json',
      ],
      Wants: ['network-online.target'],
      After: [
        ...['sno-trial.service', 'network-online.target', 'containerd.service', 'crio.service'],
        'time-sync.target',
      ],
      OnFailure: ['sno-gather.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'an update that a hub asks for is judged first, and is no failure of the unit if it is refused; one under way goes on, whatever the executable knows',
    units: [UPDATE],
    says: {
      ExecCondition:
        "/bin/sh -c 'test -e /var/lib/sno-agents/sno-update/request.json || exec /var/lib/sno-agents/bin/sno-agents sno-update take-up'",
    },
  },
  {
    why: 'sno-report has not the right to start it, and writes the file again until it is decided on',
    units: [`${UPDATE}.path`],
    says: {
      Documentation: 'man:sno-agents(8)',
      PathChanged: '/var/lib/sno-agents/sno-update/wanted.json',
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'a relocatable host looks for a site volume at each boot after the installation; the network and the clock of the site come from it',
    units: [RECONFIGURE],
    says: {
      ConditionPathExists: ['/var/lib/sno-agents/record.json', '/etc/sno-agents/factory.json'],
      After: [
        ...['sno-trial.service', 'NetworkManager.service'],
        ...['containerd.service', 'crio.service'],
      ],
      OnFailure: ['sno-gather.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'it is started again and again, so it must not remain active',
    units: [...ON_DEMAND, TRIAL, ...ON_TRIAL],
    says: { Type: 'oneshot' },
  },
  {
    why: 'the executable from before the change, since the one on trial may not start',
    units: [TRIAL],
    says: {
      ExecStart: '/var/lib/sno-agents/bin/sno-agents.trial sno-trial run',
      SyslogIdentifier: 'sno-trial',
    },
  },
  {
    why: 'the name of the Node follows that of the host, unless kubelet.env pins another one',
    units: ['installed/kubelet'],
    says: { Environment: 'KUBELET_NODE_NAME=' },
  },
  {
    why: 'a sealed node waits for the configuration of its site',
    units: ['installed/kubelet'],
    says: { ConditionPathExists: '!/etc/sno-agents/sealed' },
  },
];
