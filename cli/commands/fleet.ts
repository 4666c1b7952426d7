import { type Command, Option } from 'commander';
import { type ImportSitesOptions, importSites } from '../fleet/import.ts';
import { type JobsOptions, printJobs } from '../fleet/print-jobs.ts';
import { type FleetReportOptions, writeFleetReport } from '../fleet/report.ts';
import { type FleetStatusOptions, printFleetStatus } from '../fleet/status.ts';
import { addFleetSite } from '../fleet/worker/command.ts';
import type { Surroundings } from '../surroundings.ts';

const namespace = ['--namespace <name>', 'of the Sites', 'sno-fleet'] as const;
const kubeconfig = [
  '--kubeconfig <file>',
  'of the hub (default: KUBECONFIG, the account of the pod, ~/.kube/config)',
] as const;
const silentAfter = [
  '--silent-after <duration>',
  'how long a site may say nothing after its delivery, such as 30m',
  '30m',
] as const;

const EXAMPLES = `
A hub is a Kubernetes cluster with the files of deploy/fleet (docs/fleet.md).
First wave:
  sno fleet import --table sites.csv --template shop \\
    --template-dir DIR > sites.yaml
  kubectl apply --server-side -f sites.yaml
  sno fleet jobs --selector wave=1 --image IMAGE \\
    --publish-url https://volumes.example.com \\
    --hub-server https://hub.example.com:6443 > wave-1.yaml
  kubectl apply --server-side -f wave-1.yaml
  sno fleet status --selector wave=1`;

/** `sno fleet ...`: many sites, by a hub. */
export function addFleet(sno: Command, surroundings: Surroundings): void {
  const fleet = sno
    .command('fleet')
    .description('set up many sites with a hub, a Kubernetes cluster with the queue and the state')
    .addHelpText('after', EXAMPLES);
  addImport(fleet, surroundings);
  addJobs(fleet, surroundings);
  addFleetSite(fleet, surroundings);
  addStatus(fleet, surroundings);
  addReport(fleet, surroundings);
}

function addImport(fleet: Command, surroundings: Surroundings): void {
  fleet
    .command('import')
    .summary('print a Site for each row of a table, for kubectl apply')
    .description(
      'print a Site for each row of a table, and the ConfigMap of their template, for "kubectl apply --server-side -f -"; or every fault of every row, and nothing else',
    )
    .option(
      '--table <file.csv>',
      'with a column site; wave, serial, delivery (virtualMedia, url, person), bareMetalHost and hostFacts are fields, and every other column is a value of the template',
    )
    .option(
      '--cluster-instances <file>',
      'instead: ClusterInstances of siteconfig; fields that become no value are named',
    )
    .option('--template <name>', 'ConfigMap with the template of these sites')
    .option(
      '--template-dir <dir>',
      'also print this ConfigMap, of DIR/site-config.yaml and DIR/extra-manifests (to install, DIR/install-config.yaml, DIR/manifests and DIR/openshift), and check the rows by it',
    )
    .option(...namespace)
    .addOption(
      new Option('--action <action>', 'what is wanted of the nodes')
        .choices(['relocate', 'install', 'update', 'none'])
        .default('relocate'),
    )
    .option('--secrets <names>', 'Secrets whose keys are values too, with commas between them')
    .option(
      '--secret-values <names>',
      'placeholders and files that they fill in, with commas between them',
    )
    .option('--update-url <url>', 'of the folder of a signed update, with --action update')
    .option('--update-serial <n>', 'of that update, as "sno create update" says it')
    .option('--json', 'print it as JSON')
    .action((options: ImportSitesOptions) => importSites(options, surroundings));
}

function addJobs(fleet: Command, surroundings: Surroundings): void {
  fleet
    .command('jobs')
    .summary('print the Jobs of a wave, for kubectl apply')
    .description(
      'print the Jobs of a wave, for "kubectl apply --server-side -f -": canaries, then all sites; each delivers, then collects what became of it. All but the first are suspended until somebody, or Argo CD, starts them',
    )
    .requiredOption('--selector <labels>', 'which Sites, such as wave=1')
    .requiredOption('--image <image>', 'with sno, for the pods')
    .requiredOption('--publish-url <url>', 'https://HOST/PATH of the folder of volumes')
    .requiredOption('--hub-server <url>', 'the API server of the hub, as nodes reach it')
    .option('--hub-ca <name>', 'ConfigMap with its authority as ca.crt (default: that of the pods)')
    .option(...namespace)
    .option('--canaries <n>', 'sites of the wave that go first; none of them may fail', '10')
    .option('--parallelism <n>', 'pods at a time', '100')
    .option('--max-failed <n>', 'failed sites after which the wave stops', '50')
    .option('--count <n>', 'sites of the wave (default: asks the hub)')
    .option(...kubeconfig)
    .option('--claim <name>', 'PersistentVolumeClaim of the volumes', 'sno-fleet-volumes')
    .option(
      '--sign-secret <name>',
      'Secret with the SSH key that signs them, as id',
      'sno-fleet-sign',
    )
    .option('--service-account <name>', 'of the pods', 'sno-fleet')
    .option('--shared-iso <name>', 'for installations: the shared ISO, a file of that claim')
    .option('--config-by-url', 'live hosts fetch their config from there: the ISO has its address')
    .option('--no-exchange', 'the pods do not reach the API of installed nodes')
    .option(
      '--collect-deadline <duration>',
      'how long a pod waits for its node, such as 72h where a person delivers',
      '90m',
    )
    .option('--argo-cd', 'suspend none: Argo CD runs them in their sync waves')
    .action((options: JobsOptions) => printJobs(options, surroundings));
}

function addStatus(fleet: Command, surroundings: Surroundings): void {
  fleet
    .command('status')
    .summary('print how many sites are where, and what to do')
    .description(
      'read the Sites of a hub; print how many are in which state, each failure with its fix once, and which sites are silent',
    )
    .option(...kubeconfig)
    .option(...namespace)
    .option('--selector <labels>', 'which Sites, such as wave=1 (default: all)')
    .option(...silentAfter)
    .option('--json', 'print it as JSON')
    .action((options: FleetStatusOptions) => printFleetStatus(options, surroundings));
}

function addReport(fleet: Command, surroundings: Surroundings): void {
  fleet
    .command('report')
    .summary('write the same as an HTML page')
    .description(
      'read the Sites of a hub; write one page for people, without scripts and other files, the sites that need somebody first',
    )
    .requiredOption('--html <file>', 'the page; replaces an earlier one')
    .option(...kubeconfig)
    .option(...namespace)
    .option('--selector <labels>', 'which Sites, such as wave=1 (default: all)')
    .option(...silentAfter)
    .action((options: FleetReportOptions) => writeFleetReport(options, surroundings));
}
