import { type Command, InvalidArgumentError } from 'commander';
import {
  createRelocatableManifests,
  type RelocatableManifestsOptions,
} from '../create/relocatable-manifests.ts';
import { createSiteVolume, type SiteVolumeOptions } from '../create/site-volume.ts';
import { createSiteVolumes, type SiteVolumesOptions } from '../create/site-volumes.ts';
import { MOST_ROWS, MOST_TABLE_BYTES } from '../site/table.ts';
import type { Surroundings } from '../surroundings.ts';
import { verifySiteConfig } from '../verify/site-config.ts';
import { type VerifyVolumeOptions, verifySiteVolume } from '../verify/site-volume.ts';

const hostFacts = [
  '--host-facts <file>',
  'host-facts.json of the node, as its factory has written it: the site is compared with it',
] as const;
const sign = [
  '--sign <key>',
  'sign it with this SSH key, or the one in ssh-agent that belongs to it',
] as const;

/** `sno create relocatable-manifests`, `site-volume` and `site-volumes`. */
export function addCreateSite(create: Command, surroundings: Surroundings): void {
  create
    .command('relocatable-manifests')
    .summary('write the MachineConfig that makes a node of OpenShift relocatable')
    .description(
      'read DIR/manifests of openshift-install; write DIR/openshift/99-master-sno-relocatable.yaml, a MachineConfig that makes the node of OpenShift relocatable',
    )
    .option('--dir <dir>', 'folder in which "openshift-install create manifests" was run', '.')
    .requiredOption(
      '--address <address>',
      'the IPv4 address that the node has at its installation; it keeps it as an internal one',
    )
    .requiredOption('--node-name <name>', 'the name that the host has at its installation')
    .action((options: RelocatableManifestsOptions) =>
      createRelocatableManifests(options, surroundings),
    );
  create
    .command('site-volume')
    .description(
      'read DIR/site-config.yaml, the certificates that it names and DIR/extra-manifests; write the medium that a relocatable node reads at its site, and DIR/auth',
    )
    .option('--dir <dir>', 'folder with site-config.yaml', '.')
    .option('--iso <file>', 'the new ISO (default: DIR/site-volume.iso)')
    .option('--folder <dir>', 'the new folder, to be copied to a stick with the label SITE-CONFIG')
    .option(...sign)
    .option(
      '--recipient <recipient>',
      'encrypt it to the node with this recipient of age, age1... (default: that of --host-facts)',
    )
    .option(...hostFacts)
    .option(
      '--csr <file>',
      "the administrator's certificate request, which the host signs, instead of a key that is made here",
    )
    .action((options: SiteVolumeOptions) => createSiteVolume(options, surroundings));
  addSiteVolumes(create, surroundings);
}

const VOLUMES_HELP = `
OUT gets a folder for each site, with its volume and its auth; run.json, what
the run has begun with; and results.jsonl, a line of JSON for each row: site,
state (done or failed), serial, sha256, isEncrypted, failure. All rows are
checked before the first volume is made. A row that fails does not stop the
others: the exit code is 1 then, and --resume tries it again.

Limits: ${MOST_ROWS} rows, and a table of ${MOST_TABLE_BYTES >> 20} MiB. On two processors and an idle
disk, a row takes 0.1 to 0.2 s, and checking it 2 ms. It takes 0.5 MiB as an
ISO, and 0.1 MiB as a folder, besides what the site brings.`;

function addSiteVolumes(create: Command, surroundings: Surroundings): void {
  create
    .command('site-volumes')
    .description(
      `the same for each row of a table: \${COLUMN} in a value of DIR/site-config.yaml is the cell of that column`,
    )
    .requiredOption(
      '--table <file.csv>',
      'with a column site, the name of its folder in OUT; a column recipient encrypts the row',
    )
    .requiredOption('--output <dir>', 'the new folder with a folder for each site')
    .option('--dir <dir>', 'folder with site-config.yaml, the template', '.')
    .option('--format <format>', 'iso or folder', 'iso')
    .option(
      '--host-facts-dir <dir>',
      'folder with SITE.json, the host-facts.json of the node of each row: the sites are compared with them, and encrypted to their recipient unless the row has one',
    )
    .option(...sign)
    .option(
      '--parallel <n>',
      'how many rows at once (default: four times the number of processors, at most 16: rows wait for the disk)',
      parallelOf,
    )
    .option(
      '--resume',
      'continue an earlier run with the same input, in its OUT, or begin. Finished volumes stay as they are, with their keys',
    )
    .addHelpText('after', VOLUMES_HELP)
    .action((options: SiteVolumesOptions) => createSiteVolumes(options, surroundings));
}

/** Each of them runs programs, and keeps a volume in memory. */
const MOST_PARALLEL = 64;

function parallelOf(text: string): number {
  const count = Number(text);
  if (/^[1-9]\d*$/.test(text) && count <= MOST_PARALLEL) return count;
  throw new InvalidArgumentError(`expected a whole number from 1 to ${MOST_PARALLEL}`);
}

/** `sno verify site-config` and `site-volume`. */
export function addVerifySite(verify: Command, surroundings: Surroundings): void {
  verify
    .command('site-config')
    .description('check a site-config.yaml, the certificates that it names and extra-manifests')
    .argument('<file>')
    .option(...hostFacts)
    .action((path: string, options: { hostFacts?: string }) =>
      verifySiteConfig(path, options, surroundings),
    );
  verify
    .command('site-volume')
    .description('check a volume for a site, an ISO or a folder, as the node does')
    .argument('<path>')
    .option('--ssh-key <file>', 'public keys that may sign it, one on each line')
    .option('--identity <file>', 'the identity of age that it is encrypted to')
    .option(...hostFacts)
    .action((path: string, options: VerifyVolumeOptions) =>
      verifySiteVolume(path, options, surroundings),
    );
}
