import { type Requirement, WORKER_TRUST } from './requirement.ts';

/** What starts sno-worker-trust, and what it may access. */
export const workerTrustRequirements: readonly Requirement[] = [
  {
    why: 'a rotation waits for it, for an hour; a skipped start must not be the last one, and not all kubelets restart at once',
    units: [`${WORKER_TRUST}.timer`],
    says: {
      Documentation: 'man:sno-agents(8)',
      OnCalendar: '*:0/15',
      OnBootSec: '2min',
      RandomizedDelaySec: '2min',
      WantedBy: ['timers.target'],
    },
  },
  {
    why: 'the journal names the agent, whatever the unit or executable is called',
    units: [WORKER_TRUST],
    says: {
      ExecStart: '/var/lib/sno-agents/bin/sno-agents sno-worker-trust run',
      SyslogIdentifier: 'sno-worker-trust',
    },
  },
  {
    why: 'before the worker has joined, sno-worker writes the same files; without its identity nobody answers',
    units: [WORKER_TRUST],
    says: {
      ConditionPathExists: ['/var/lib/sno-agents/record.json', '/var/lib/kubelet/kubeconfig'],
    },
  },
  {
    why: 'it reaches the API by that socket, verifies certificates by the clock, and restarts the kubelet',
    units: [WORKER_TRUST],
    says: {
      Wants: ['sno-api.socket'],
      After: ['sno-api.socket', 'kubelet.service', 'time-sync.target'],
    },
  },
  {
    why: 'it is started again and again, so it must not remain active; systemd-notify sends its messages',
    units: [WORKER_TRUST],
    says: { Type: 'oneshot', NotifyAccess: 'all', TimeoutStopSec: '60' },
  },
  {
    why: 'the workload takes precedence, also in memory',
    units: [WORKER_TRUST],
    says: { Nice: '10', MemoryMax: '256M' },
  },
  {
    why: 'the API and the health of the kubelet, at 127.0.0.1 in IPv6 clusters too',
    units: [WORKER_TRUST],
    says: { RestrictAddressFamilies: ['AF_INET'], IPAddressAllow: ['localhost'] },
  },
  {
    why: 'it replaces the CAs of the API server; systemd restarts the kubelet only for root of the host',
    units: [WORKER_TRUST],
    says: {
      ReadWritePaths: ['/etc/kubernetes', '/var/lib/sno-agents', '/var/log', '/run'],
      CapabilityBoundingSet: '',
    },
  },
];
