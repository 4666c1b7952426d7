import { DISK_VARIABLE } from './disk-variable.ts';
import type { Config, Refinement } from './refinement.ts';

/** What only an installer can give, before a system runs from the disk. */
const INSTALLERS = [
  'installationDisk',
  'existingSystem',
  'kernelArguments',
  'savePartitions',
] as const;

const FIX = 'Leave it out, or install the host from a live image.';

/** With `target: self` whoever wrote the image to the disk has decided how. Sealed keys have not been tried there. */
export function ofOwnDisk({ sound, isGiven, writesDisk, variable }: Config): Refinement[] {
  const host = sound.bootstrapInPlace;
  if (host?.target !== 'self') return [];
  const at = (name: string) => ['bootstrapInPlace', name];
  const ofTarget = (expected: string, fix: string) => ({ path: at('target'), expected, fix });
  return [
    ...(writesDisk
      ? [
          ofTarget(
            'no target where a live host writes the disk',
            'Use "sno create in-place-ignition", or name installationDisk instead.',
          ),
        ]
      : []),
    ...INSTALLERS.filter((name) => isGiven(at(name))).map((name) => ({
      ...{ path: at(name), expected: 'nothing with target: self', fix: FIX },
    })),
    ...((host.sealSecrets ?? 'none') === 'none'
      ? []
      : [{ path: at('sealSecrets'), expected: 'none with target: self', fix: FIX }]),
    ...(variable === undefined || variable.rest.length === 0
      ? []
      : [ofTarget(`no ${DISK_VARIABLE} with target: self`, `Unset ${DISK_VARIABLE}.`)]),
  ];
}
