import { type Requirement, UNSEAL } from './requirement.ts';

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
    units: [UNSEAL],
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
