import { type Requirement, SITE_URL } from './requirement.ts';

/** What starts sno-site-url, and what it may access. */
export const siteUrlRequirements: readonly Requirement[] = [
  {
    why: 'the volume of a host may be published after its boot; not all hosts of a fleet ask at the same moment',
    units: [`${SITE_URL}.timer`],
    says: {
      Documentation: 'man:sno-agents(8)',
      ConditionPathExists: '/etc/sno-agents/sealed',
      OnBootSec: '5min',
      OnUnitInactiveSec: '10min',
      RandomizedDelaySec: '5min',
      WantedBy: ['timers.target'],
    },
  },
  {
    why: 'only a host that waits for its site, and whose factory has fixed a URL; a run that was skipped must have an end, from which the timer counts',
    units: [SITE_URL],
    says: {
      ExecCondition: [
        '/usr/bin/test -e /etc/sno-agents/sealed',
        '/usr/bin/grep -qs siteUrl /etc/sno-agents/factory.json',
      ],
    },
  },
  {
    why: 'at a boot, reconfigure asks and has its volume; the journal names it, and gets no line for each start and end',
    units: [SITE_URL],
    says: {
      After: ['reconfigure.service'],
      ExecStart: '/var/lib/sno-agents/bin/sno-agents reconfigure ask',
      SyslogIdentifier: 'reconfigure',
      LogLevelMax: 'notice',
    },
  },
  {
    why: 'it is started again and again, so it must not remain active; two and a half minutes for a link and the transfer',
    units: [SITE_URL],
    says: { Type: 'oneshot', TimeoutStartSec: '240', TimeoutStopSec: '60' },
  },
  {
    why: 'the workload takes precedence, also in memory',
    units: [SITE_URL],
    says: { Nice: '10', MemoryMax: '256M' },
  },
  {
    why: 'the server of the factory, by its name; curl and systemd ask by local sockets and netlink',
    units: [SITE_URL],
    says: { RestrictAddressFamilies: ['AF_INET', 'AF_INET6', 'AF_NETLINK'] },
  },
  {
    why: 'what it was given is handed over in /run; systemd starts reconfigure only for root of the host',
    units: [SITE_URL],
    says: { ReadWritePaths: ['/run'], CapabilityBoundingSet: '' },
  },
];
