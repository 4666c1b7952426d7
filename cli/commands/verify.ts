import type { Command } from 'commander';
import type { Surroundings } from '../surroundings.ts';
import { verifyIgnition } from '../verify/ignition.ts';
import { verifyPayloadFolder } from '../verify/payload.ts';

/** `sno verify ...`: checks of created files. */
export function addVerify(sno: Command, surroundings: Surroundings): void {
  const verify = sno.command('verify').description('check files before they ship');
  verify
    .command('ignition')
    .description('check an Ignition config: schema, paths, hashes, modes of private keys')
    .argument('<file>')
    .action((path: string) => verifyIgnition(path, surroundings.print));
  verify
    .command('payload')
    .description(
      'check a payload: size and digest of every file, contents of images, architecture of programs, nothing missing, nothing extra',
    )
    .argument('<dir>')
    .action((directory: string) => verifyPayloadFolder(directory, surroundings));
}
