import type { Command } from 'commander';
import type { Surroundings } from '../surroundings.ts';
import { verifyIgnition } from '../verify/ignition.ts';
import { verifyPayloadFolder } from '../verify/payload.ts';

/** `sno verify ...`: checks of what was made. */
export function addVerify(sno: Command, surroundings: Surroundings): void {
  const verify = sno.command('verify').description('check a file before it ships');
  verify
    .command('ignition')
    .description('check an Ignition config: schema, paths, hashes, modes of private keys')
    .argument('<file>')
    .action((path: string) => verifyIgnition(path, surroundings.print));
  verify
    .command('payload')
    .description(
      'check a payload: every file by size and digest, images whole and as named, programs of its architecture, none missing, none extra',
    )
    .argument('<dir>')
    .action((directory: string) => verifyPayloadFolder(directory, surroundings));
}
