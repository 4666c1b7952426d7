import type { Command } from 'commander';
import { licenses } from '../../lib/base/licenses.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno licenses`: the licences of all third-party components in this executable. */
export function addLicenses(sno: Command, surroundings: Surroundings): void {
  sno
    .command('licenses')
    .description('print the licences of all software in this executable')
    .action(() => surroundings.print(licenses().trimEnd()));
}
