import { besideBare } from '../bare/index.ts';
import { certificates } from '../certificates/index.ts';
import type { Component } from '../components/component.ts';
import { crioOsImage } from '../components/cri-o-system.ts';
import { e2eImages } from '../components/e2e-images.ts';
import { e2eTest } from '../components/e2e-test.ts';
import { fleetWorkerBase } from '../components/fleet-worker-base.ts';
import { nmstatectl } from '../components/nmstatectl.ts';
import { openshiftImages } from '../components/openshift/images.ts';
import { openshiftInstaller } from '../components/openshift/installer.ts';
import { openshiftKubernetes } from '../components/openshift/kubernetes.ts';
import { machineConfig } from '../components/openshift/machine-config.ts';
import { openshiftRegistry } from '../components/openshift/registry-storage.ts';
import { openshiftOsImage } from '../components/openshift/system.ts';
import { opensshServer } from '../components/openssh-server.ts';
import { debianRuntimeOsImage } from '../components/os-image.ts';
import { registry } from '../components/registry.ts';
import { stickFormats } from '../components/stick-formats.ts';
import { sushyTools } from '../components/sushy-tools.ts';
import { swtpm } from '../components/swtpm.ts';
import { tpmLiveIso, tpmOsImage, tpmRootFilesystem } from '../components/tpm-system.ts';
import { faults } from '../faults/index.ts';
import { onlyMachines } from '../machine/shown/index.ts';
import { brokenPayload, compressedPayload, laterPayload, routedPayload } from '../payload.ts';
import { relocateBesideBare } from '../relocate/beside-bare.ts';
import { FACTORY_SCENARIO } from '../relocate/factory.ts';
import { relocations } from '../relocate/index.ts';
import type { Scenario } from '../scenario.ts';
import { address, addressOff } from './address.ts';
import { aio, aioContainerd1, aioMedium, conformance, crio } from './aio.ts';
import { bootstrapInPlace, dualStack, ipv6 } from './bootstrap-in-place.ts';
import { firstMachine } from './first-machine.ts';
import { fleet } from './fleet.ts';
import { fleetInstall } from './fleet-install.ts';
import { inPlace, inPlaceMedium } from './in-place.ts';
import { minorUpdate, minorUpdateComponents } from './minor-update.ts';
import { openshift } from './openshift.ts';
import { openshiftComponents } from './openshift-components.ts';
import { openshiftRender } from './openshift-render.ts';
import { pxe } from './pxe.ts';
import { recover } from './recover.ts';
import {
  relocate,
  relocateBriefly,
  relocateDualStack,
  relocateInPlace,
  relocateIpv6,
} from './relocate.ts';
import { aioSealed, sealed, sealedHost } from './sealed.ts';
import { staticNetwork } from './static-network.ts';
import { update } from './update.ts';
import { workerUpdate, workerUpdateComponents } from './worker-update.ts';
import { dayOneWorkers, workers } from './workers.ts';

/** Valid values of `--scenario`. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'bootstrap-in-place': bootstrapInPlace,
  'first-machine': firstMachine,
  pxe,
  'dual-stack': dualStack,
  ipv6,
  'static-network': staticNetwork,
  aio,
  'aio-medium': aioMedium,
  'aio-containerd-1': aioContainerd1,
  'aio-sealed': aioSealed,
  'in-place': inPlace,
  'in-place-medium': inPlaceMedium,
  address,
  'address-off': addressOff,
  sealed,
  'sealed-host': sealedHost,
  recover,
  relocate,
  'relocate-briefly': relocateBriefly,
  'relocate-in-place': relocateInPlace,
  'relocate-dual-stack': relocateDualStack,
  'relocate-ipv6': relocateIpv6,
  fleet,
  'fleet-install': fleetInstall,
  conformance,
  crio,
  workers,
  'day-one-workers': dayOneWorkers,
  update,
  'minor-update': minorUpdate,
  'worker-update': workerUpdate,
  'aio-beside-bare': besideBare,
  'openshift-components': openshiftComponents,
  'openshift-render': openshiftRender,
  openshift,
  ...faults,
  ...relocations,
  'relocate-beside-bare': relocateBesideBare,
  ...certificates,
  ...onlyMachines,
};

/** Those that run on machines too. Of the others some boot live hosts that have no ISO, or reach into a container. */
export const machineScenarios: readonly string[] = [
  ...[
    'bootstrap-in-place',
    'first-machine',
    'dual-stack',
    'ipv6',
    'pxe',
    'power-cut',
    'bad-manifests',
  ],
  ...['aio', 'aio-sealed', 'sealed', 'aio-power-cut', 'in-place', FACTORY_SCENARIO],
  ...Object.keys(onlyMachines),
];

/** Scenarios that begin with what `npm run release` makes. */
export const ofRelease: readonly string[] = ['first-machine'];

const openshiftHost: readonly Component[] = [
  ...[openshiftKubernetes, machineConfig, openshiftInstaller],
  ...[openshiftRegistry, openshiftOsImage, registry],
];

/** Components used in addition to those of all scenarios. */
export const furtherComponents: Readonly<Record<string, readonly Component[]>> = {
  'first-machine': [routedPayload, registry],
  'dual-stack': [compressedPayload],
  'static-network': [nmstatectl],
  relocate: [nmstatectl, opensshServer, e2eTest, e2eImages],
  'relocate-briefly': [nmstatectl, opensshServer],
  'relocate-in-place': [nmstatectl, opensshServer, e2eTest, e2eImages],
  'relocate-dual-stack': [nmstatectl, e2eTest, e2eImages],
  'relocate-ipv6': [nmstatectl, e2eTest, e2eImages],
  fleet: [nmstatectl, fleetWorkerBase, sushyTools],
  'fleet-install': [fleetWorkerBase, sushyTools],
  'relocate-factory': [nmstatectl, opensshServer],
  'machine-media': [nmstatectl],
  'machine-technician': [stickFormats],
  crio: [crioOsImage],
  'aio-containerd-1': [debianRuntimeOsImage],
  'aio-sealed': [swtpm, tpmOsImage],
  sealed: [swtpm, tpmRootFilesystem, tpmLiveIso],
  update: [laterPayload, brokenPayload],
  'minor-update': minorUpdateComponents,
  'worker-update': workerUpdateComponents,
  recover: [laterPayload, brokenPayload, e2eTest, e2eImages],
  'node-killed-in-every-step': [laterPayload],
  workers: [routedPayload],
  'day-one-workers': [routedPayload],
  'openshift-components': [openshiftKubernetes, machineConfig, openshiftImages],
  'openshift-render': openshiftHost,
  openshift: openshiftHost,
};
