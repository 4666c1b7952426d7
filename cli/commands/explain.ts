import { type Command, Option } from 'commander';
import { explainField } from '../explain/config-field.ts';
import { type ExplainOptions, PLATFORM_NAMES } from '../explain/options.ts';
import { explainTopology } from '../explain/topology.ts';
import { explainVersions } from '../explain/versions.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno explain ...`: why an installation is as it is, and what can be installed. */
export function addExplain(sno: Command, surroundings: Surroundings): void {
  const explain = sno
    .command('explain')
    .description(
      'explain what an installation decides, what can be installed, and fields of install-config.yaml and site-config.yaml',
    )
    .argument('[name]', 'install-config.FIELD or site-config.FIELD; without a field, all of them')
    .action((name: string | undefined) =>
      name === undefined ? explain.help({ error: true }) : explainField(name, surroundings),
    );
  explain
    .command('topology')
    .description(
      'print the table of topologies of one control-plane node; for a cluster also the row that applies, and what follows from it',
    )
    .option('--config <file>', 'the cluster of an install-config.yaml')
    .option(
      '--from-ignition <file>',
      'the cluster of a bootstrap Ignition config that openshift-install created; its manifests are compared with the row',
    )
    .option('--compute <n>', 'workers of the installation (default: 0)')
    .option('--platform <name>', `${PLATFORM_NAMES} (default: none)`)
    .option('--later-workers <n>', 'workers that join the running cluster (default: 0)')
    .addOption(
      new Option(
        '--kind <kind>',
        'what follows on it (default: kubernetes; openshift with one of the options for it)',
      ).choices(['kubernetes', 'openshift']),
    )
    .option(
      '--release <version>',
      'of OpenShift, such as 4.19 (default: that of the Ignition config, else the newest known)',
    )
    .option('--manifests', 'print the manifests for OpenShift as YAML')
    .option('--json', 'print everything as JSON')
    .action((options: ExplainOptions) => explainTopology(options, surroundings));
  explain
    .command('versions')
    .description(
      'print the table of supported versions of Kubernetes and etcd, and what they demand',
    )
    .option('--json', 'print it as JSON')
    .action((options: { json?: boolean }) => explainVersions(options, surroundings));
}
