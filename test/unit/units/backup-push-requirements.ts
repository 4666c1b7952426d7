import { BACKUP_PUSH, type Requirement } from './requirement.ts';

const ITS_TARGET = '/etc/sno-agents/backup-to.json';

/** What starts sno-backup-push, and what it may access. */
export const backupPushRequirements: readonly Requirement[] = [
  {
    why: 'each backup leaves the host as soon as it is complete, and no backup waits for that or fails with it',
    units: ['installed/sno-backup'],
    says: { Wants: ['sno-backup-push.service'] },
  },
  {
    why: 'the same: it waits for a backup that is being made',
    units: [BACKUP_PUSH],
    says: { After: ['sno-backup.service'] },
  },
  {
    why: 'what was not stored is sent again, and a fleet does not ask at once; nothing runs where no store is named',
    units: [`${BACKUP_PUSH}.timer`],
    says: {
      Documentation: 'man:sno-agents(8)',
      ConditionPathExists: ITS_TARGET,
      OnBootSec: '15min',
      OnUnitInactiveSec: '1h',
      RandomizedDelaySec: '20min',
      WantedBy: ['timers.target'],
    },
  },
  {
    why: 'the timer counts from the end of each run, and a sealed node has no store yet',
    units: [BACKUP_PUSH],
    says: {
      ExecCondition: [
        `/usr/bin/test -e ${ITS_TARGET}`,
        '/usr/bin/test ! -e /etc/sno-agents/sealed',
      ],
    },
  },
  {
    why: 'it is started again and again, so it must not remain active, and a restart of the host does not wait for it',
    units: [BACKUP_PUSH],
    says: { Type: 'oneshot', NotifyAccess: 'all', TimeoutStopSec: '10' },
  },
  {
    why: 'the journal names the agent, whatever the unit or executable is called',
    units: [BACKUP_PUSH],
    says: {
      ExecStart: '/var/lib/sno-agents/bin/sno-agents sno-backup-push run',
      SyslogIdentifier: 'sno-backup-push',
    },
  },
  {
    why: 'the host reaches the store as it reaches everything else',
    units: [BACKUP_PUSH],
    says: { EnvironmentFile: '-/etc/sno-agents/proxy.env' },
  },
  {
    why: 'everything else on the host takes precedence',
    units: [BACKUP_PUSH],
    says: { Nice: '10', CPUWeight: '20', IOWeight: '20' },
  },
  {
    why: 'the store is elsewhere; curl looks at the addresses of the host',
    units: [BACKUP_PUSH],
    says: { RestrictAddressFamilies: ['AF_INET', 'AF_INET6', 'AF_NETLINK'] },
  },
  {
    why: 'it only reads backups and keys; its encrypted copy is beside its state',
    units: [BACKUP_PUSH],
    says: {
      ReadWritePaths: ['/var/lib/sno-agents', '/var/log', '/run'],
      CapabilityBoundingSet: '',
      PrivateUsers: 'yes',
    },
  },
];
