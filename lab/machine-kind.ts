/** What the hosts of a run are, `--machine` of `npm run lab`: containers, or machines with UEFI or BIOS. */
export const MACHINE_KINDS = ['container', 'vm', 'vm-bios'] as const;

export type MachineKind = (typeof MACHINE_KINDS)[number];

export const isMachineKind = (name: string): name is MachineKind =>
  MACHINE_KINDS.some((kind) => kind === name);
