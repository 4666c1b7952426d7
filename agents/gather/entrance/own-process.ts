import { getPriority, setPriority } from 'node:os';

/** Other processes have priority; children inherit it. */
const NICE = 10;

export function lowerPriority(): void {
  // It may already be lower, e.g. set by a unit; raising the priority requires a privilege.
  if (getPriority() < NICE) setPriority(NICE);
}
