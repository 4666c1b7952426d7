import type { Command } from 'commander';
import { createSharedIso, type SharedIsoOptions } from '../create/shared-iso.ts';
import { type CreateIsoOptions, createSingleNodeIso } from '../create/single-node-iso.ts';
import { acceptUntested } from '../payload/accept.ts';
import { logged } from '../process/log-file.ts';
import type { Surroundings } from '../surroundings.ts';
import { machineConfigServer, withAdditions } from './host-options.ts';

const agentsExecutable = [
  '--agents-executable <file>',
  'the sno-agents executable (default: $SNO_AGENTS_EXECUTABLE, else the one next to sno)',
] as const;

/** `sno create single-node-iso` and `shared-iso`. */
export function addCreateIso(create: Command, surroundings: Surroundings): void {
  const iso = create
    .command('single-node-iso')
    .summary('create the ISO of a site: a live ISO with its Ignition config')
    .description(
      'copy a live ISO and add the Ignition config of DIR (created first if missing), the executable and the payload; or copy a shared ISO, which has all but the config',
    )
    .option(
      '--dir <dir>',
      'folder with install-config.yaml, or with the Ignition config created from it',
      '.',
    )
    .option('--iso <file>', 'an unmodified CoreOS live ISO; it is not changed')
    .option(
      '--shared <file>',
      'an ISO of "sno create shared-iso" instead of --iso and --payload; it is not changed, and shares its blocks with the new one where the file system can',
    )
    .option(
      '--payload <dir>',
      'the payload; required with --iso, except for a config that downloads it, or was taken over from openshift-install',
    )
    .option(...acceptUntested)
    .option('--output <file>', 'the new ISO (default: DIR/single-node.iso)')
    .option(...agentsExecutable)
    .option(
      '--config-url <url>',
      'https URL from which the live host fetches its config, instead of having it on the ISO; writes the config to DIR under the last part of the URL, to be uploaded',
    )
    .option('--config-url-ca <file>', 'the CA certificates of that server, if they are its own')
    .option(...machineConfigServer);
  withAdditions(iso).action((options: CreateIsoOptions) =>
    logged(options.dir, surroundings, (own) => createSingleNodeIso(options, own)),
  );
  create
    .command('shared-iso')
    .summary('create the ISO that sites share, without a config and without secrets')
    .description(
      'copy a live ISO and add the executable and the payload, without a config and without secrets: "sno create single-node-iso --shared" makes the ISO of a site of it',
    )
    .requiredOption('--iso <file>', 'an unmodified CoreOS live ISO; it is not changed')
    .option(
      '--payload <dir>',
      'the payload; without it, for configs that download it, or were taken over from openshift-install',
    )
    .option(...acceptUntested)
    .requiredOption('--output <file>', 'the new ISO')
    .option(...agentsExecutable)
    .action((options: SharedIsoOptions) => createSharedIso(options, surroundings));
}
