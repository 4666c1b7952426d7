import { z } from 'zod';
import { DISK_VARIABLE } from '../cli/install-config/disk.ts';
import { FIELDS, NOT_SUPPORTED, type Wanted } from '../cli/install-config/fields.ts';
import { installConfigSchema } from '../cli/install-config/schema.ts';
import { type InstallSettings, readSettings } from '../cli/install-config/settings.ts';

/** The least that is accepted: what it leaves out shows the defaults. */
export const MINIMAL_INSTALL_CONFIG = `apiVersion: v1
baseDomain: example.com
metadata:
  name: sno
compute:
  - name: worker
    replicas: 0
controlPlane:
  name: master
  replicas: 1
platform:
  none: {}
bootstrapInPlace:
  installationDisk: /dev/disk/by-id/wwn-0x5000c500a1b2c3d4
pullSecret: '{"auths":{}}'
`;

type Schema = z.core.JSONSchema.JSONSchema;

interface Field {
  /** As in FIELDS: `[]` for any position of a list. */
  path: string;
  required: boolean;
}

/** install-config.yaml as the schema and its messages have it, as Markdown. */
export function installConfigReference(): string {
  const defaults = defaultTexts();
  const rows = fieldsOf(z.toJSONSchema(installConfigSchema), '').map(({ path, required }) =>
    row([`\`${path}\``, required ? 'yes' : 'no', wanted(path).expected, defaults[path] ?? '']),
  );
  const refused = Object.entries(NOT_SUPPORTED);
  const replaced = refused.filter(([, instead]) => instead !== '');
  return `# install-config.yaml

Made from the code by \`docs/generate.ts\`; do not edit. Explained in [the operator's page](../operator.md).

The least that is accepted:

\`\`\`yaml
${MINIMAL_INSTALL_CONFIG}\`\`\`

## Fields

"Required" means: where its parent is given. The disk is required too, here or in the variable
\`${DISK_VARIABLE}\`. A key without a value
counts as left out; a field that is not in this table is a fault.

${table(['Field', 'Required', 'Value', 'Default'], rows)}

## Fields of the OpenShift installer that are refused

Without a replacement here: ${listed(refused.filter(([, instead]) => instead === '').map(([path]) => path))}.

${table(
  ['Field', 'Write instead'],
  replaced.map(([path, instead]) => row([`\`${path}\``, `\`${instead}\``])),
)}
`;
}

/** An object's fields come before what is in them, in the order of the schema. */
function fieldsOf(schema: Schema, path: string): Field[] {
  const { properties = {}, required = [], items } = schema;
  const own = Object.entries(properties).flatMap(([name, below]) => {
    const field = path === '' ? name : `${path}.${name}`;
    const inside = typeof below === 'boolean' ? [] : fieldsOf(below, field);
    return [{ path: field, required: required.includes(name) }, ...inside];
  });
  if (typeof items !== 'object' || Array.isArray(items)) return own;
  return [...own, { path: `${path}[]`, required: true }, ...fieldsOf(items, `${path}[]`)];
}

function wanted(path: string): Wanted {
  const field = FIELDS[path];
  if (field === undefined) throw new Error(`no message is known for the field ${path}`);
  return typeof field === 'function' ? field(undefined) : field;
}

/** Read back from a file without them, so that they are the ones that hold. */
function defaultTexts(): Readonly<Record<string, string>> {
  const read = readSettings(MINIMAL_INSTALL_CONFIG, undefined);
  if (!read.ok) throw new Error(`the example is refused: ${JSON.stringify(read.faults)}`);
  const { machineNetwork, clusterNetwork, serviceNetwork, existingSystem }: InstallSettings =
    read.settings;
  return {
    'networking.machineNetwork': listed(machineNetwork),
    'networking.clusterNetwork': listed(clusterNetwork.map(({ cidr }) => cidr)),
    'networking.clusterNetwork[].hostPrefix': listed(
      clusterNetwork.map(({ hostPrefix }) => String(hostPrefix)),
    ),
    'networking.serviceNetwork': listed(serviceNetwork),
    'bootstrapInPlace.existingSystem': listed([existingSystem]),
  };
}

const listed = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ');

function table(head: readonly string[], rows: readonly string[]): string {
  return [row(head), row(head.map(() => '---')), ...rows].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
