/**
 * Writes docs/reference/, and what deploy/fleet/ has of it, from the code: `node build/launch.mjs docs/generate.ts`.
 * A test compares what is there with what this would write.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installConfigJsonSchema, siteConfigJsonSchema } from '../cli/explain/config-schemas.ts';
import { failuresReference } from './failures-reference.ts';
import { faultsReference } from './faults-reference.ts';
import { findingsReference } from './findings-reference.ts';
import { nodeAccess } from './fleet-access.ts';
import { siteDefinition } from './fleet-definition.ts';
import { installConfigReference } from './install-config-reference.ts';
import { metricsReference } from './metrics-reference.ts';
import { openShiftReleasesReference } from './openshift-releases-reference.ts';
import { payloadPartsReference } from './payload-parts-reference.ts';
import { plansReference } from './plans-reference.ts';
import { schemaDocuments } from './schemas.ts';
import { settingsReference } from './settings-reference.ts';
import { siteConfigReference } from './site-config-reference.ts';
import { snoReference } from './sno-reference.ts';
import { topologyReference } from './topology-reference.ts';
import { versionsReference } from './versions-reference.ts';

export interface GeneratedDocument {
  /** From the root of the repository. */
  path: string;
  contents: string;
}

/** Every document that is made from the code, as it has to be now. */
export async function generatedDocuments(signal: AbortSignal): Promise<GeneratedDocument[]> {
  return [
    { path: 'deploy/fleet/crd.yaml', contents: siteDefinition() },
    { path: 'deploy/fleet/node-access.yaml', contents: nodeAccess() },
    { path: 'docs/reference/failures.md', contents: failuresReference() },
    { path: 'docs/reference/faults.md', contents: faultsReference() },
    { path: 'docs/reference/findings.md', contents: findingsReference() },
    { path: 'docs/reference/install-config.md', contents: installConfigReference() },
    {
      path: 'docs/reference/schemas/install-config.schema.json',
      contents: `${JSON.stringify(installConfigJsonSchema(), null, 2)}\n`,
    },
    { path: 'docs/reference/site-config.md', contents: siteConfigReference() },
    {
      path: 'docs/reference/schemas/site-config.schema.json',
      contents: `${JSON.stringify(siteConfigJsonSchema(), null, 2)}\n`,
    },
    { path: 'docs/reference/metrics.md', contents: metricsReference() },
    { path: 'docs/reference/openshift-releases.md', contents: openShiftReleasesReference() },
    { path: 'docs/reference/payload-parts.md', contents: payloadPartsReference() },
    { path: 'docs/reference/plans.md', contents: plansReference() },
    { path: 'docs/reference/settings.md', contents: settingsReference() },
    ...schemaDocuments(),
    { path: 'docs/reference/sno.md', contents: await snoReference(signal) },
    { path: 'docs/reference/topology.md', contents: topologyReference() },
    { path: 'docs/reference/versions.md', contents: versionsReference() },
  ];
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  for (const { path, contents } of await generatedDocuments(AbortSignal.timeout(60_000))) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), contents);
    process.stdout.write(`wrote ${path}\n`);
  }
}
