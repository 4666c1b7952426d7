import type { LabContext } from '../scenario.ts';
import { administrator } from './administrator.ts';
import { allInOne } from './all-in-one.ts';
import { atRest } from './at-rest.ts';
import { bareSystem } from './bare-system.ts';
import { bootPartition } from './boot-partition.ts';
import { certificateNames } from './certificate-names.ts';
import type { ClusterCheck, DiskCheck, RunningCheck } from './check.ts';
import { cleanLater } from './clean-later.ts';
import { deferredApplied } from './deferred-applied.ts';
import { documentedChanges, emptyVar, oneDeployment, readOnly } from './deployment.ts';
import { editor } from './editor.ts';
import { etcdRestored } from './etcd-restored.ts';
import { journalStory } from './journal-story.ts';
import { metadataFromPods } from './metadata-from-pods.ts';
import { nodeAddresses } from './node-addresses.ts';
import { nodeReady } from './node-ready.ts';
import { nodeRequests } from './node-requests.ts';
import { nodeRole } from './node-role.ts';
import { nothingLeft } from './nothing-left.ts';
import { objectsKept } from './objects-kept.ts';
import { ownInputs } from './own-inputs.ts';
import { presentImages } from './present-images.ts';
import { restarts } from './restarts.ts';
import { serviceFamilies } from './service-families.ts';
import { outsideNames, services } from './services.ts';
import { kernelArgument, siteOnHost } from './site-inputs.ts';
import { steady } from './steady.ts';
import { unitsGone } from './units-gone.ts';
import { volumes } from './volumes.ts';
import { workload } from './workload.ts';

export const diskChecks: readonly DiskCheck[] = [bootPartition, bareSystem, kernelArgument];

export const clusterChecks: readonly ClusterCheck[] = [
  nodeReady,
  // Early: the API server compacts etcd's history every five minutes.
  etcdRestored,
  objectsKept,
  restarts,
  nodeRole,
  nothingLeft,
  unitsGone,
  siteOnHost,
  ownInputs,
  journalStory,
  nodeAddresses,
  certificateNames,
  serviceFamilies,
  ...administrator,
  // After all that expect deferred manifests: it applies them.
  deferredApplied,
  workload,
  // With the image that the workload brought.
  services,
  metadataFromPods,
  outsideNames,
  volumes,
  presentImages,
  editor,
  cleanLater,
  // Last: the checks before it have created pods.
  steady,
  atRest,
];

/** Of an all-in-one host. */
export const allInOneChecks: readonly RunningCheck[] = [
  nodeReady,
  nodeRole,
  restarts,
  ...allInOne,
  ownInputs,
  nodeAddresses,
  certificateNames,
  nodeRequests,
  serviceFamilies,
  ...administrator,
  workload,
  services,
  metadataFromPods,
  volumes,
  presentImages,
  editor,
  // Last: the checks before it have created pods.
  steady,
  atRest,
];

/** Of an operating system that the lab has made for its machines: an ostree deployment. */
const deploymentChecks: readonly RunningCheck[] = [
  readOnly,
  oneDeployment,
  documentedChanges,
  emptyVar,
];

type Run = Pick<LabContext, 'hosts' | 'imageSource'>;

const systemChecksOf = ({ hosts, imageSource }: Run): readonly RunningCheck[] =>
  hosts.are === 'machines' && imageSource === 'on the ISO' ? deploymentChecks : [];

/** Every check of an installation, on the hosts of this run. */
export const clusterChecksOf = (run: Run): readonly ClusterCheck[] => [
  ...clusterChecks,
  ...systemChecksOf(run),
];

/** The same of an all-in-one host. */
export const allInOneChecksOf = (run: Run): readonly RunningCheck[] => [
  ...allInOneChecks,
  ...systemChecksOf(run),
];
