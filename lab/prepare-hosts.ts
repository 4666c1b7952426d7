import { join } from 'node:path';
import { ensureComponent } from './components/component.ts';
import { ensureComponents } from './components/index.ts';
import { kernelIn, kernelVersion } from './components/machine/kernel.ts';
import { machineLiveIso } from './components/machine/live-iso.ts';
import { machineOsImage } from './components/machine/os-image.ts';
import { machineSystem } from './components/machine/system.ts';
import { containers } from './host/hosts.ts';
import { probeAccelerator, SLOWER } from './machine/accelerator.ts';
import { machines } from './machine/machines.ts';
import type { MachineKind } from './machine-kind.ts';
import { type OwnFiles, ownSystem } from './own-system.ts';
import { bePatient } from './patience.ts';
import type { LabContext } from './scenario.ts';

/** Of machines, in addition to those of all scenarios. */
export const machineComponents = [machineSystem, machineOsImage, machineLiveIso] as const;

/** How the hosts of a run are run, with the images that they boot. The components have been built. */
export async function prepareHosts(
  kind: MachineKind,
  { own, folder }: { readonly own: OwnFiles; readonly folder: string },
  signal: AbortSignal,
): Promise<Pick<LabContext, 'hosts' | 'components' | 'imageSource'>> {
  const within = { signal, report: () => undefined };
  const components = await ensureComponents(within);
  if (kind === 'container') return { hosts: containers, components, imageSource: 'on the ISO' };
  const tree = join(await ensureComponent(machineSystem, within), 'tree');
  const osImage = await ensureComponent(machineOsImage, within);
  const liveIso = await ensureComponent(machineLiveIso, within);
  const accelerator = await probeAccelerator(kernelIn(tree, await kernelVersion(tree)), signal);
  const { imageSource, ...images } = await ownSystem(own, folder, signal);
  bePatient(SLOWER[accelerator]);
  return {
    hosts: machines({ accelerator, firmware: kind === 'vm-bios' ? 'bios' : 'uefi' }),
    components: { ...components, osImage, liveIso, ...images },
    imageSource,
  };
}
