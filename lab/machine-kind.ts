/** What the hosts of a run are: `--machine` of `npm run lab`. */
export const MACHINE_KINDS = ['container', 'vm'] as const;

export type MachineKind = (typeof MACHINE_KINDS)[number];

export const isMachineKind = (name: string): name is MachineKind =>
  MACHINE_KINDS.some((kind) => kind === name);
