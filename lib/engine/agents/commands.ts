/** A program of an installed host that is no agent: it has no plan, no unit and no state. */
interface HostCommand {
  /** Name of its link in PATH. */
  readonly name: string;
  /** One line: what it does. */
  readonly purpose: string;
}

/** Every such program, permanently on each host with a control plane. */
export const HOST_COMMANDS = [
  {
    name: 'wait-steady',
    purpose: 'waits until nothing of this host and its cluster changes, and says what moves',
  },
  {
    name: 'verify-clean',
    purpose: 'searches this host for the private keys that its installation deleted',
  },
] as const satisfies readonly HostCommand[];

export type HostCommandName = (typeof HOST_COMMANDS)[number]['name'];

export const hostCommandNames: readonly HostCommandName[] = HOST_COMMANDS.map(({ name }) => name);
