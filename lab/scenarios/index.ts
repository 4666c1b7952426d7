import { faults } from '../faults/index.ts';
import type { Scenario } from '../scenario.ts';
import { bootstrapInPlace, dualStack, ipv6 } from './bootstrap-in-place.ts';
import { pxe } from './pxe.ts';

/** What `--scenario` can name. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'bootstrap-in-place': bootstrapInPlace,
  pxe,
  'dual-stack': dualStack,
  ipv6,
  ...faults,
};
