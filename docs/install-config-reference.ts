import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf } from '../cli/explain/config-fields.ts';
import { installConfigJsonSchema } from '../cli/explain/config-schemas.ts';
import { DISK_VARIABLE } from '../cli/install-config/disk-variable.ts';
import { NOT_SUPPORTED } from '../cli/install-config/not-supported.ts';
import { readInstallSettings } from '../cli/install-config/settings.ts';
import { row, table } from './markdown-table.ts';

/** The smallest valid configuration; its absent fields show the defaults. */
export const MINIMAL_INSTALL_CONFIG = readFileSync(
  join(import.meta.dirname, 'examples/bootstrap-in-place/install-config.yaml'),
  'utf8',
);

/** install-config.yaml according to its schema and messages, as Markdown. */
export function installConfigReference(): string {
  const defaults = defaultTexts();
  const rows = fieldsOf(installConfigJsonSchema(), '').map(({ path, isRequired, expected }) =>
    row([`\`${path}\``, isRequired ? 'yes' : 'no', expected, defaults[path] ?? '']),
  );
  const refused = [...NOT_SUPPORTED];
  const replaced = refused.filter(([, instead]) => instead !== '');
  return `# install-config.yaml

Generated from the code by \`docs/generate.ts\`; do not edit. For a guide, see [Preparing an installation](../operator.md).
For editors and pipelines: [JSON Schema](schemas/install-config.schema.json).

A minimal configuration ([others](../examples/README.md)):

\`\`\`yaml
${MINIMAL_INSTALL_CONFIG}\`\`\`

No registry accepts the pull secret of this example; it is for installations that pull nothing.

## Fields

"Required" applies if the parent field is present. The disk is also required, here or in the variable
\`${DISK_VARIABLE}\`. A key without a value
counts as absent. A field that is not in this table is an error.

${table(['Field', 'Required', 'Value', 'Default'], rows)}

## Rejected fields of the OpenShift installer

Without a replacement: ${listed(refused.filter(([, instead]) => instead === '').map(([path]) => path))}.

${table(
  ['Field', 'Write instead'],
  replaced.map(([path, instead]) => row([`\`${path}\``, `\`${instead}\``])),
)}
`;
}

/** The effective defaults, read from a file without these fields. */
function defaultTexts(): Readonly<Record<string, string>> {
  const read = readInstallSettings(MINIMAL_INSTALL_CONFIG, undefined);
  if (!read.ok) throw new Error(`the example is rejected: ${JSON.stringify(read.faults)}`);
  const { machineNetwork, clusterNetwork, serviceNetwork, installation } = read.settings.cluster;
  return {
    'networking.machineNetwork': listed(machineNetwork),
    'networking.clusterNetwork': listed(clusterNetwork.map(({ cidr }) => cidr)),
    'networking.clusterNetwork[].hostPrefix': listed(
      clusterNetwork.map(({ hostPrefix }) => String(hostPrefix)),
    ),
    'networking.serviceNetwork': listed(serviceNetwork),
    'bootstrapInPlace.existingSystem': listed([installation.existingSystem]),
  };
}

const listed = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ');
