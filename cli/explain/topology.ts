import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { type Fault, faultText } from '../../lib/config/file/fault.ts';
import { missingTopology } from '../../lib/config/topology/differences.ts';
import { LATEST_RELEASE, type Release } from '../../lib/config/topology/release.ts';
import {
  type Described,
  type TopologyReport,
  topologyReport,
} from '../../lib/config/topology/report.ts';
import { rowFor, type TopologyInputs } from '../../lib/config/topology/row-for.ts';
import { faultsIn } from '../create/read-folder.ts';
import { readConfigText } from '../create/read-install-config.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import type { Surroundings } from '../surroundings.ts';
import { inputsOfConfig } from './config-inputs.ts';
import { type ExplainedAssets, readInstallerAssets } from './installer-assets.ts';
import {
  count,
  type ExplainOptions,
  exclusionFaults,
  inputsOfOptions,
  type Read,
  releaseOf,
} from './options.ts';
import { topologyText } from './text.ts';

/**
 * `sno explain topology`: prints the table of topologies, and for a cluster that is described
 * by options or files which row applies, what follows from it and why.
 * @throws Failure (usage) with every fault of the options, or of the file
 */
export async function explainTopology(
  options: ExplainOptions,
  { print }: Pick<Surroundings, 'print'>,
): Promise<void> {
  const { described, assets } = await read(options);
  const differences =
    assets === undefined || described?.kind !== 'openshift'
      ? undefined
      : missingTopology(assets.manifests, rowFor(described));
  const report = topologyReport(described, differences);
  if (options.json === true) print(JSON.stringify(report, null, 2));
  else if (options.manifests === true) print(manifestsText(report));
  else print(topologyText(report));
}

interface Source {
  readonly described: Described | undefined;
  /** With --from-ignition. */
  readonly assets?: ExplainedAssets;
}

async function read(options: ExplainOptions): Promise<Source> {
  const laterWorkers = count('--later-workers', options.laterWorkers, 0);
  const release = options.release === undefined ? undefined : releaseOf(options.release);
  const given = inputsOfOptions(options);
  requireNone('the options', [
    ...exclusionFaults(options),
    ...given.faults,
    ...laterWorkers.faults,
    ...(release?.faults ?? []),
  ]);
  const { inputs, assets } = await inputsOf(options, given);
  if (inputs === undefined) return { described: undefined };
  const all = { ...inputs, laterWorkers: laterWorkers.value ?? 0 };
  const found = release?.value ?? assets?.release;
  const described = describe(all, options, found);
  return assets === undefined ? { described } : { described, assets };
}

type Inputs = Omit<TopologyInputs, 'laterWorkers'>;

async function inputsOf(
  { config, fromIgnition }: ExplainOptions,
  given: Read<Inputs | undefined>,
): Promise<{ inputs: Inputs | undefined; assets?: ExplainedAssets }> {
  if (config !== undefined) {
    const { value, faults } = inputsOfConfig(await readConfigText(config, 'another with --config'));
    requireNone(config, faults, config);
    return { inputs: value };
  }
  if (fromIgnition === undefined) return { inputs: given.value };
  const assets = await readInstallerAssets(fromIgnition);
  const { value, faults } = inputsOfConfig(assets.installConfig);
  requireNone(`the install-config in ${fromIgnition}`, faults);
  return { inputs: value, assets };
}

function describe(
  inputs: TopologyInputs,
  { kind, release, manifests, fromIgnition }: ExplainOptions,
  found: Release | undefined,
): Described {
  const isOpenshift = [release, manifests, fromIgnition].some((option) => option !== undefined);
  if ((kind ?? (isOpenshift ? 'openshift' : 'kubernetes')) === 'kubernetes') {
    return { ...inputs, kind: 'kubernetes' };
  }
  return { ...inputs, kind: 'openshift', release: found ?? LATEST_RELEASE };
}

/** `file`: what the positions refer to, if it has another name. */
function requireNone(where: string, faults: readonly Fault[], file = INSTALL_CONFIG): void {
  if (faults.length === 0) return;
  throw faultsIn(
    where,
    faults.map((fault) => faultText(fault, file)),
  );
}

/** A stream of YAML documents, each with its place in the assets of openshift-install. */
function manifestsText({ openshift }: TopologyReport): string {
  return (openshift?.manifests ?? [])
    .map(({ file, isPartial, object }) => {
      const note = isPartial ? ' (only the fields that the topology determines)' : '';
      return `---\n# ${file}${note}\n${writeGoYaml(object)}`;
    })
    .join('')
    .trimEnd();
}
