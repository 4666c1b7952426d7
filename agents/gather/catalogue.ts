import type { SourceGroup } from './source.ts';
import { agents } from './sources/agents.ts';
import { assets } from './sources/assets.ts';
import { certificates } from './sources/certificates.ts';
import { containers } from './sources/containers.ts';
import { disks } from './sources/disks.ts';
import { earlier } from './sources/earlier.ts';
import { etcd } from './sources/etcd.ts';
import { ignition } from './sources/ignition.ts';
import { journals, previousJournals } from './sources/journals.ts';
import { kubelet } from './sources/kubelet.ts';
import { network } from './sources/network.ts';
import { node } from './sources/node.ts';
import { podLogs } from './sources/pod-logs.ts';
import { resources } from './sources/resources.ts';
import { staticPods } from './sources/static-pods.ts';
import { systemd } from './sources/systemd.ts';

/** All sources of a bundle, in the order in which they are collected. */
export const catalogue: readonly SourceGroup[] = [
  systemd,
  etcd,
  resources,
  containers,
  journals,
  network,
  disks,
  staticPods,
  kubelet,
  agents,
  ignition,
  certificates,
  node,
  assets,
  earlier,
  podLogs,
  // Last: when the bundle gets too large, the end of this list is left out, the oldest boot first.
  previousJournals,
];
