import type { Scenario } from '../scenario.ts';
import { bootstrapInPlace } from './bootstrap-in-place.ts';

export const scenarios: Readonly<Record<string, Scenario>> = {
  'bootstrap-in-place': bootstrapInPlace,
};
