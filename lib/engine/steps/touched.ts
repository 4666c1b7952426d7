/**
 * What a step can use of the host and of what surrounds it, as far as it can be missing, full, slow or wrong. A step
 * declares all of it (`Step.touches`); the table of faults must have a fault of each for every plan of an
 * installed host (lab/faults/cells).
 */
export const TOUCHED = {
  disk: 'files that it writes, or reads as large ones',
  etcd: 'etcd, or its database',
  api: 'the API server',
  runtime: 'the container runtime: images and containers',
  systemd: 'units that it starts, stops or enables',
  network: 'the network of the host: its addresses, other hosts, name servers',
  clock: 'the wall clock: dates in certificates, and of objects',
  firmware: 'boot entries, or the TPM',
} as const;

export type Touched = keyof typeof TOUCHED;
