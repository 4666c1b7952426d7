import { IN_PLACE, MOUNTING, type Requirement, UNSEAL } from './requirement.ts';

/** What sno-unseal needs, which mounts the keys of a sealed host, and the devices of live hosts: disks, and a TPM. */
export const unsealRequirements: readonly Requirement[] = [
  {
    why: 'nothing creates, reads or writes a key before the folders of keys are in memory; the kubelet does not start without them',
    units: [UNSEAL],
    says: {
      Before: ['aiokube.service', 'sno-certificates.service', 'kubelet.service'],
      RequiredBy: ['kubelet.service'],
      WantedBy: ['multi-user.target'],
    },
  },
  {
    why: 'at the first boot the executable is installed first, and labelled',
    units: [UNSEAL],
    says: {
      Wants: ['sno-executable.service', 'sno-label.service'],
      After: ['sno-executable.service', 'sno-label.service'],
    },
  },
  {
    why: 'every other process must see its mounts, so it has none of its own, and no option that makes some',
    units: MOUNTING,
    says: {
      CapabilityBoundingSet: ['CAP_SYS_ADMIN'],
      SystemCallFilter: '@mount',
      RestrictRealtime: 'yes',
    },
  },
  {
    why: 'the TPM opens its key, through the resource manager of the kernel, whose device may belong to another user',
    units: [UNSEAL],
    says: { DeviceAllow: '/dev/tpmrm0 rw', CapabilityBoundingSet: ['CAP_DAC_OVERRIDE'] },
  },
  {
    why: 'it writes files into folders of any owner, and fetches from a server that is not known beforehand',
    units: [IN_PLACE],
    says: {
      CapabilityBoundingSet: ['CAP_DAC_OVERRIDE'],
      RestrictAddressFamilies: ['AF_INET', 'AF_INET6', 'AF_NETLINK'],
      EnvironmentFile: '-/etc/sno-agents/proxy.env',
    },
  },
  {
    why: 'it runs its plan with the executable that the system has verified, by a file that its mounts do not cover; it says what it does on the console, and gets time to end',
    units: [IN_PLACE],
    says: {
      ExecStartPre:
        '/usr/bin/sha256sum --check --strict /var/lib/sno-agents/sno-in-place/executable.sha256',
      ExecStart: '/var/lib/sno-agents/bin/sno-agents sno-in-place run',
      SyslogIdentifier: 'sno-in-place',
      StandardOutput: 'journal+console',
      TimeoutStopSec: '60',
    },
  },
  {
    why: 'it mounts the target disk',
    units: ['live/install-to-disk'],
    says: { DeviceAllow: 'block-* rw' },
  },
  {
    why: 'it mounts the target disk, and has the TPM of the machine seal the keys of the installed host',
    units: ['live/bootkube'],
    says: { DeviceAllow: ['block-* rw', '/dev/tpmrm0 rw'] },
  },
];
