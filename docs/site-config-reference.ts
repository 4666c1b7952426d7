import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf } from '../cli/explain/config-fields.ts';
import { siteConfigJsonSchema } from '../cli/explain/config-schemas.ts';
import { refusedFields } from '../lib/config/site-config/refused.ts';
import { row, table } from './markdown-table.ts';

/** A site with a fixed address, mirrors and checks. */
export const EXAMPLE_SITE_CONFIG = readFileSync(
  join(import.meta.dirname, 'examples/site-static/site-config.yaml'),
  'utf8',
);

const DEFAULTS: Readonly<Record<string, string>> = {
  serial: 'the time in seconds',
  validUntil: 'no end',
  hosts: 'every node',
  hostname: 'as it is',
  renameNode: '`false`',
  nodeAddress: '`internal`',
  raw_nm_state_config: 'as it is',
  'certificates.api': 'made by the host',
  'certificates.ingress': 'made by the host',
  allowRestart: '`false`',
  keepHostKeys: '`false`, other keys are made',
};

/** site-config.yaml according to its schema and messages, as Markdown. */
export function siteConfigReference(): string {
  const rows = fieldsOf(siteConfigJsonSchema(), '').map(({ path, isRequired, expected }) =>
    row([`\`${path}\``, isRequired ? 'yes' : 'no', expected, DEFAULTS[path] ?? '']),
  );
  const refused = refusedFields().map(([path, instead]) => row([`\`${path}\``, instead]));
  return `# site-config.yaml

Generated from the code by \`docs/generate.ts\`; do not edit. For a guide, see [Relocatable nodes](../relocation.md).
For editors and pipelines: [JSON Schema](schemas/site-config.schema.json).

An example, which \`sno verify site-config\` accepts ([others](../examples/README.md)):

\`\`\`yaml
${EXAMPLE_SITE_CONFIG}\`\`\`

## Fields

"Required" applies if the parent field is present. A key without a value counts as absent. A field that is not in this
table is an error. Names are those of lifecycle-agent's SeedReconfiguration where it has the field, else those of
install-config.yaml. A certificate or key is PEM, or the path of a file beside site-config.yaml, which
\`sno create site-volume\` takes along.

${table(['Field', 'Required', 'Value', 'Default'], rows)}

## Rejected fields

${table(['Field', 'Instead'], refused)}
`;
}
