import type { Requirement } from './requirement.ts';

/** What starts sno-renew. */
export const renewalRequirements: readonly Requirement[] = [
  {
    why: 'a host that is off at night makes up for it, not all hosts of a site at once; a set clock changes what is valid',
    units: ['installed/sno-renew.timer'],
    says: {
      OnCalendar: '*-*-* 02:00:00',
      OnClockChange: 'yes',
      Persistent: 'yes',
      RandomizedDelaySec: '2h',
      WantedBy: ['timers.target'],
    },
  },
  {
    why: 'what sno-renew.path watches is gone before it could start the unit again',
    units: ['installed/sno-renew'],
    says: { ExecStartPre: '-/usr/bin/rm -f /run/sno-agents/renewal-due' },
  },
  {
    why: 'sno-certificates asks for it, on a finished host with an API that nobody else is changing',
    units: ['installed/sno-renew.path'],
    says: {
      PathExists: '/run/sno-agents/renewal-due',
      ConditionPathExists: [
        '/var/lib/sno-agents/record.json',
        '!/etc/sno-agents/sealed',
        ...['sno-rotate', 'sno-backup-restore', 'sno-identity', 'sno-update', 'reconfigure'].map(
          (agent) => `!/var/lib/sno-agents/${agent}/request.json`,
        ),
      ],
      WantedBy: ['multi-user.target'],
    },
  },
];
