import { REPORTED_AGENTS } from '../../../agents/upkeep/report/statuses.ts';
import { REPORT, type Requirement } from './requirement.ts';

const ITS_TARGET = '/etc/sno-agents/report-to.json';

/** What starts sno-report, and what it may access. */
export const reportRequirements: readonly Requirement[] = [
  {
    why: 'without it nobody is told; a path unit would start a service again and again whose conditions fail',
    units: [`${REPORT}.path`, `${REPORT}.timer`],
    says: { Documentation: 'man:sno-agents(8)', ConditionPathExists: ITS_TARGET },
  },
  {
    why: 'each change of a status is news, and its own is not; a folder shows a file that is replaced. What became of an update that a hub asks for is in a file before it is one',
    units: [`${REPORT}.path`],
    says: {
      PathChanged: [
        ...REPORTED_AGENTS.map((name) => `/run/sno-agents/${name}`),
        '/var/lib/sno-agents/sno-update/answered.json',
      ],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'what was not accepted is sent again, a hub is asked what it wants, and a fleet does not ask at once',
    units: [`${REPORT}.timer`],
    says: {
      OnBootSec: '2min',
      OnUnitInactiveSec: '15min',
      RandomizedDelaySec: '5min',
      WantedBy: ['timers.target'],
    },
  },
  {
    why: 'the same on the host of a live image, where the executable comes later',
    units: [REPORT],
    says: {
      ExecCondition: [
        '/usr/bin/test -e /etc/sno-agents/report-to.json',
        '/usr/bin/test -x /var/lib/sno-agents/bin/sno-agents',
      ],
      After: ['sno-executable.service', 'sno-label.service'],
    },
  },
  {
    why: 'it is started again and again, so it must not remain active, and a restart of the host does not wait for it',
    units: [REPORT],
    says: {
      Type: 'oneshot',
      NotifyAccess: 'all',
      TimeoutStopSec: '10',
      StartLimitIntervalSec: '0',
    },
  },
  {
    why: 'the journal names the agent, whatever the unit or executable is called',
    units: [REPORT],
    says: {
      ExecStart: '/var/lib/sno-agents/bin/sno-agents sno-report run',
      SyslogIdentifier: 'sno-report',
    },
  },
  {
    why: 'the host reaches the hub as it reaches everything else',
    units: [REPORT],
    says: { EnvironmentFile: '-/etc/sno-agents/proxy.env' },
  },
  {
    why: 'everything else on the host takes precedence',
    units: [REPORT],
    says: { Nice: '10', CPUWeight: '20', IOWeight: '20', MemoryMax: '256M' },
  },
  {
    why: 'the hub is elsewhere; curl looks at the addresses of the host',
    units: [REPORT],
    says: { RestrictAddressFamilies: ['AF_INET', 'AF_INET6', 'AF_NETLINK'] },
  },
  {
    why: 'it only reads what it reports',
    units: [REPORT],
    says: {
      ReadWritePaths: ['/var/lib/sno-agents', '/var/log', '/run'],
      CapabilityBoundingSet: '',
      PrivateUsers: 'yes',
    },
  },
];
