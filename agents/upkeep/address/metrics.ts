import { type Sample, sample } from '../../../lib/engine/metrics/metrics.ts';
import type { AddressState } from './state.ts';

/** Where the address of the Node is, after a run. */
export function addressMetrics({ last }: AddressState): Sample[] {
  if (last === undefined) return [];
  const { registered, found, isMoved } = last;
  return [sample('sno_address_moved', { registered, found }, isMoved)];
}
