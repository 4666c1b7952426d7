import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import type { Component } from '../components.ts';

export interface Shipped {
  readonly version: string;
  readonly arch: string;
  readonly components: readonly Component[];
  /** SHA-256 of each executable by its name in the tarball. */
  readonly executables: Readonly<Record<string, string>>;
}

/** A CycloneDX 1.6 document (JSON) of exactly the contents of a tarball; deterministic. */
export function sbomOf({ version, arch, components, executables }: Shipped): string {
  const product = new Models.Component(Enums.ComponentType.Application, 'sno-agents', {
    version,
    bomRef: `sno-agents@${version}`,
    description: 'On-node agents of a single-node cluster, for linux-'.concat(arch),
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('Apache-2.0')]),
  });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: product }) });
  for (const one of components) bom.components.add(libraryOf(one));
  for (const [name, sha256] of Object.entries(executables)) {
    const file = new Models.Component(Enums.ComponentType.File, name, { bomRef: `file:${name}` });
    file.hashes.set(Enums.HashAlgorithm['SHA-256'], sha256);
    bom.components.add(file);
  }
  for (const { bomRef } of bom.components) product.dependencies.add(bomRef);
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const options = { sortLists: true, space: 2 };
  return `${new Serialize.JsonSerializer(factory).serialize(bom, options)}\n`;
}

function libraryOf({ name, version, license }: Component): Models.Component {
  const isNode = name === 'node';
  const [scope, bare] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const purl = isNode
    ? new PackageURL('generic', undefined, 'node', version)
    : new PackageURL('npm', scope, bare ?? name, version);
  const type = isNode ? Enums.ComponentType.Platform : Enums.ComponentType.Library;
  return new Models.Component(type, bare ?? name, {
    version,
    bomRef: purl.toString(),
    purl: purl.toString(),
    ...(scope === undefined ? {} : { group: scope }),
    licenses: new Models.LicenseRepository([licenseOf(license)]),
  });
}

function licenseOf(expression: string) {
  return /\s/.test(expression)
    ? new Models.LicenseExpression(expression)
    : new Models.SpdxLicense(expression);
}
