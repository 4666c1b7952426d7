import type { Command } from 'commander';

/** Of the commands for live hosts. */
export const machineConfigServer = [
  '--machine-config-server <url>',
  'https URL to fetch the master Ignition config from, instead of rendering it on the host',
] as const;

const each = (value: string, values: readonly string[] = []) => [...values, value];

/** What a person adds to the host. */
export const withAdditions = (command: Command): Command =>
  command
    .option(
      '--butane <file>',
      'a Butane config with files, units and users of your own for the installed host; needs the program butane',
    )
    .option('--ignition <file>', 'the same as an Ignition config, instead of --butane')
    .option('--settings <file>', 'settings.json for the agents on the host')
    .option('--set <name=value>', 'one setting, such as steadyStateMs=3600000; repeatable', each);
