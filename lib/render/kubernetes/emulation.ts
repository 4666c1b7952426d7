import type { KeylessInput } from '../renderer.ts';

/**
 * The flag by which a component serves, stores and enables what the earlier minor version did (KEP-4330). Whoever reads
 * what it has written may then be of that version. kube-apiserver, kube-controller-manager and kube-scheduler know it
 * since 1.31.
 */
export const emulation = ({ host }: KeylessInput): Readonly<Record<string, string>> =>
  host.emulates === undefined ? {} : { 'emulated-version': `kube=${host.emulates}` };
