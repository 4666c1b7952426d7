import type { Synthetic } from './synthetic.ts';

/** Some output immediately, some later, and no end. */
export const endless: Synthetic[] = [
  { path: 'small.txt', does: 'text', text: 'small\n' },
  { path: 'done.log', does: 'lines', bytes: 3_000_000, phase: 'bulk' },
  { path: 'drips.log', does: 'drips', phase: 'bulk' },
  { path: 'deaf.log', does: 'deaf', text: 'so far\n', phase: 'bulk' },
  { path: 'never.log', does: 'text', text: 'never\n', phase: 'bulk' },
];
