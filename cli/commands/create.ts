import type { Command } from 'commander';
import { TOKEN_HOURS } from '../../lib/clients/rights/bootstrap-token.ts';
import { acceptUnknownRelease } from '../../lib/config/openshift/judge-release.ts';
import { type AioOptions, createAioIgnition } from '../create/aio-ignition.ts';
import { createInPlaceIgnition, type InPlaceOptions } from '../create/in-place-ignition.ts';
import { createInstallConfig, type InstallConfigOptions } from '../create/install-config.ts';
import { createRestoreIgnition, type RestoreIgnitionOptions } from '../create/restore-ignition.ts';
import {
  type CreateOptions,
  createSingleNodeIgnitionConfig,
} from '../create/single-node-ignition-config.ts';
import { createUpdate, pointInTime, serialOf, type UpdateOptions } from '../create/update.ts';
import { createWorkerIgnition, type WorkerOptions } from '../create/worker-ignition.ts';
import { acceptUntested } from '../payload/accept.ts';
import { logged } from '../process/log-file.ts';
import type { Surroundings } from '../surroundings.ts';
import {
  DEFAULT_SHIPPING_DAYS,
  requireNoTakeOver,
  type TakeOverOptions,
} from '../take-over/options.ts';
import { takeOverInstaller } from '../take-over/take-over.ts';
import { machineConfigServer, withAdditions } from './host-options.ts';
import { addCreateIso } from './iso.ts';
import { addCreatePayload } from './payload.ts';
import { addCreateSite } from './site.ts';

const apiServer = [
  '--api-server <host:port>',
  'the API server as workers reach it (default: api-int of the cluster, port 6443)',
] as const;
const tokenHours = [
  '--token-hours <n>',
  `how long workers may request their first certificate, at most ${TOKEN_HOURS.maximum}; for those of an installation, from its beginning on the host (default: ${TOKEN_HOURS.default})`,
] as const;

const signer = [
  '--signer <file>',
  'auth/backup-signer.json of the lost host, as "sno wait-for install-complete" wrote it',
] as const;

const each = (value: string, values: readonly string[] = []) => [...values, value];

/** `sno create ...`: the assets of an installation. */
export function addCreate(sno: Command, surroundings: Surroundings): void {
  const create = sno.command('create').description('create the assets of an installation');
  create
    .command('install-config')
    .description(
      'write DIR/install-config.yaml with comments: what is to be filled in is <...>; "sno verify install-config" checks it then',
    )
    .option('--dir <dir>', 'folder for it', '.')
    .option('--aio', 'for an all-in-one host, which runs from the disk that it boots from')
    .option('--ask', 'ask for what is to be filled in, and check each answer')
    .action((options: InstallConfigOptions) => createInstallConfig(options, surroundings));
  const singleNode = create
    .command('single-node-ignition-config')
    .summary('create the Ignition config of a live host, and the kubeconfig of its cluster')
    .description(
      'read DIR/install-config.yaml; write DIR/bootstrap-in-place-for-live-iso.ign, DIR/auth/kubeconfig and DIR/metadata.json, and DIR/worker.ign if compute.replicas is above 0',
    )
    .option('--dir <dir>', 'folder with install-config.yaml, manifests and openshift', '.')
    .option(
      '--agents-executable <file>',
      'the sno-agents executable on the live medium (default: $SNO_AGENTS_EXECUTABLE, else the one built with sno)',
    )
    .option('--payload <dir>', 'the payload on the live medium: the live host refuses any other')
    .option(
      '--agents-url <url>',
      'for PXE: where the live host fetches the executable; its hash is in the Ignition config',
    )
    .option(
      '--payload-url <url>',
      'for PXE: where the live host fetches payload.yaml and the files next to it; needs --payload or --payload-sha256',
    )
    .option('--payload-sha256 <hex>', 'SHA-256 of that payload.yaml, instead of --payload')
    .option(...acceptUntested)
    .option(...machineConfigServer)
    .option(...apiServer)
    .option(...tokenHours)
    .option(
      '--from-ignition <file>',
      'experimental: take over this bootstrap Ignition config of openshift-install, or the one in this folder, instead of DIR/install-config.yaml',
    )
    .option(
      '--keep <name>',
      'with --from-ignition: keep this file (path), unit or drop-in (UNIT.d/NAME) although it is unknown',
      each,
    )
    .option(...acceptUnknownRelease)
    .option(
      '--shipping-days <days>',
      `with --from-ignition: how long after today the host is installed at the latest (default: ${DEFAULT_SHIPPING_DAYS})`,
    );
  withAdditions(singleNode).action((options: CreateOptions & Partial<TakeOverOptions>) =>
    logged(options.dir, surroundings, async (own) => {
      const { fromIgnition } = options;
      if (fromIgnition !== undefined) return takeOverInstaller({ ...options, fromIgnition }, own);
      requireNoTakeOver(options);
      return createSingleNodeIgnitionConfig(options, own);
    }),
  );
  addCreateIso(create, surroundings);
  addAio(create, surroundings);
  addInPlace(create, surroundings);
  addRestore(create, surroundings);
  addWorker(create, surroundings);
  addCreatePayload(create, surroundings);
  addUpdate(create, surroundings);
  addCreateSite(create, surroundings);
}

function addAio(create: Command, surroundings: Surroundings): void {
  const command = create
    .command('aio-ignition')
    .description(
      'read DIR/install-config.yaml; write DIR/aio.ign, for the first boot of one all-in-one host from its disk, and DIR/auth/kubeconfig, and DIR/worker.ign if compute.replicas is above 0',
    )
    .option('--dir <dir>', 'folder with install-config.yaml, manifests and openshift', '.')
    .option(
      '--pointer-url <url>',
      'https URL where the host fetches aio.ign; write DIR/aio-pointer.ign too, a small config that refuses anything else from there',
    )
    .option('--pointer-url-ca <file>', 'certificates that it trusts for that')
    .option(...apiServer)
    .option(...tokenHours);
  withAdditions(withSources(command)).action((options: AioOptions) =>
    logged(options.dir, surroundings, (own) => createAioIgnition(options, own)),
  );
}

function addInPlace(create: Command, surroundings: Surroundings): void {
  const command = create
    .command('in-place-ignition')
    .summary('create user data for a host that bootstraps in memory on its own disk')
    .description(
      'read DIR/install-config.yaml with bootstrapInPlace.target self; write DIR/in-place.ign, user data for the first boot of one host from its disk, DIR/in-place.bundle, which the host fetches once, or an ISO with it, and DIR/auth/kubeconfig, and DIR/worker.ign if compute.replicas is above 0',
    )
    .option('--dir <dir>', 'folder with install-config.yaml, manifests and openshift', '.')
    .option(
      '--bundle-url <url>',
      'where the host fetches in-place.bundle, encrypted; delete it there afterwards',
    )
    .option('--agents-url <url>', 'where the host fetches the executable')
    .option('--payload-url <url>', 'where the host fetches payload.yaml and the files next to it')
    .option(
      '--medium-iso <file>',
      'instead of the URLs: write an ISO with executable, payload and bundle, to be connected at the first boot; needs --payload',
    )
    .option(
      '--agents-executable <file>',
      'the sno-agents executable (default: $SNO_AGENTS_EXECUTABLE, else the one built with sno)',
    )
    .option('--payload <dir>', 'the payload: the host refuses any other')
    .option('--payload-sha256 <hex>', 'SHA-256 of its payload.yaml, instead of --payload')
    .option(...acceptUntested)
    .option(...apiServer)
    .option(...tokenHours);
  withAdditions(command).action((options: InPlaceOptions) =>
    logged(options.dir, surroundings, (own) => createInPlaceIgnition(options, own)),
  );
}

function addRestore(create: Command, surroundings: Surroundings): void {
  const command = create
    .command('restore-ignition')
    .description(
      'write DIR/restore.ign, for the first boot of a host on other hardware from its disk: it continues the cluster of a lost host from its backup; and DIR/auth/kubeconfig',
    )
    .requiredOption('--backup <file>', 'what "sno-backup create --to" wrote on the lost host')
    .requiredOption(
      '--identity <file>',
      'the secret key of a recipient, as age-keygen wrote it; it does not leave this machine',
    )
    .option(...signer)
    .option(
      '--accept-unsigned <cluster-id>',
      'instead of --signer: a backup of this cluster, whoever made it, this once',
    )
    .option('--dir <dir>', 'folder for the outputs', '.')
    .option('--keep-authorities', 'take over the CAs of the lost host')
    .option(
      '--hostname <name>',
      'the name of the other host (default: as the lost host was installed)',
    )
    .option(
      '--machine-network <cidr>',
      'the network of the other host, one for each family (default: that of the lost host)',
      each,
    )
    .option(
      '--network-config <file>',
      'an nmstate document for the other host (default: that of the lost host, if it had one)',
    )
    .option('--dhcp', 'without the network configuration of the lost host');
  withAdditions(withSources(command)).action((options: RestoreIgnitionOptions) =>
    logged(options.dir, surroundings, (own) => createRestoreIgnition(options, own)),
  );
}

function addWorker(create: Command, surroundings: Surroundings): void {
  const command = create
    .command('worker-ignition')
    .description(
      'read DIR/install-config.yaml of a running cluster; write DIR/worker.ign, for the first boot of its workers from their disks, with a bootstrap token that is created for it',
    )
    .option('--dir <dir>', 'folder with install-config.yaml, as the cluster was created', '.')
    .option('--kubeconfig <file>', 'of an administrator (default: DIR/auth/kubeconfig)')
    .option(...apiServer)
    .option(...tokenHours);
  withAdditions(withSources(command)).action((options: WorkerOptions) =>
    logged(options.dir, surroundings, (own) => createWorkerIgnition(options, own)),
  );
}

/** Where a host that boots from its disk gets the executable and the payload. */
const withSources = (command: Command): Command =>
  command
    .option(
      '--agents-executable <file>',
      'the sno-agents executable (default: $SNO_AGENTS_EXECUTABLE, else the one built with sno)',
    )
    .option('--payload <dir>', 'the payload: the host refuses any other')
    .option('--payload-sha256 <hex>', 'SHA-256 of its payload.yaml, instead of --payload')
    .option(...acceptUntested)
    .option('--agents-url <url>', 'where the host fetches the executable; with --payload-url')
    .option(
      '--payload-url <url>',
      'where the host fetches payload.yaml and the files next to it; with --agents-url',
    )
    .option(
      '--medium-iso <file>',
      'write an ISO with the executable and the payload, to be connected at the first boot; needs --payload',
    )
    .addHelpText(
      'after',
      '\nWithout URLs, the host expects a medium as --medium-iso creates it,\nwith the label sno-agents.',
    );

function addUpdate(create: Command, surroundings: Surroundings): void {
  create
    .command('update')
    .description(
      'create DIR, an update for installed hosts: the executable, a payload, and their signed manifest',
    )
    .requiredOption('--dir <dir>', 'the new folder; its parent folder must exist')
    .requiredOption(
      '--payload <dir>',
      'the payload, of the minor versions on the hosts or the next ones',
    )
    .option(...acceptUntested)
    .requiredOption(
      '--key <file>',
      'an SSH key that belongs to the sshKey of the hosts: the private one, or the public one of a key in ssh-agent',
    )
    .option(
      '--agents-executable <file>',
      'the sno-agents executable (default: $SNO_AGENTS_EXECUTABLE, else the one next to sno)',
    )
    .option(
      '--serial <n>',
      'greater than that of every update before it (default: the present time in seconds)',
      serialOf,
    )
    .option('--no-serial', 'for hosts of an earlier release, which refuse a manifest with a serial')
    .option(
      '--expires <time>',
      'until when hosts take it, such as 2027-01-31T00:00:00Z',
      pointInTime,
    )
    .action((options: UpdateOptions) => createUpdate(options, surroundings));
}
