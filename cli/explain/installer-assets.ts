import { z } from 'zod';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { decodeManifests, type Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { parseTopologyRelease, type Release } from '../../lib/config/topology/release.ts';
import { type IgnitionConfig, readConfig } from '../../lib/render/ignition/config.ts';
import { faultsInConfig, readIgnitionText } from '../verify/ignition.ts';

/** What openshift-install decided, as far as it concerns the topology. */
export interface ExplainedAssets {
  readonly manifests: readonly Manifest[];
  /** The install-config with the installer's defaults filled in. */
  readonly installConfig: string;
  /** Undefined if the assets do not state it. */
  readonly release: Release | undefined;
}

/** The installer applies the manifests of both folders. */
const MANIFEST = /^\/opt\/openshift\/((?:manifests|openshift)\/[^/]+\.(?:ya?ml|json))$/;

const configSchema = z.object({ data: z.object({ 'install-config': z.string() }) });
/** The channel is such as `stable-4.19`. */
const versionSchema = z.object({ spec: z.object({ channel: z.string() }) });

/**
 * Reads the bootstrap Ignition config of openshift-install. @throws Failure (usage) if
 * it is another config, or its manifests cannot be decoded
 */
export async function readInstallerAssets(path: string): Promise<ExplainedAssets> {
  const read = readConfig(await readIgnitionText(path));
  if (!read.ok) throw faultsInConfig(path, read.faults);
  const manifests = manifestsIn(path, read.config);
  const config = configSchema.safeParse(find(manifests, 'ConfigMap', 'cluster-config-v1'));
  if (!config.success) {
    throw new Failure('usage', `${path} is not a bootstrap Ignition config of openshift-install`, {
      expected: 'the ConfigMap cluster-config-v1 among its manifests',
      found: 'no such manifest',
      fix: 'Use the file that "openshift-install create single-node-ignition-config" wrote.',
    });
  }
  const version = versionSchema.safeParse(find(manifests, 'ClusterVersion', 'version'));
  return {
    manifests,
    installConfig: config.data.data['install-config'],
    release: version.success ? releaseOf(version.data.spec.channel) : undefined,
  };
}

function releaseOf(channel: string): Release | undefined {
  const [, release] = /-(\d+\.\d+)$/.exec(channel) ?? [];
  return release === undefined ? undefined : parseTopologyRelease(release);
}

function manifestsIn(path: string, { storage }: IgnitionConfig): Manifest[] {
  return (storage?.files ?? []).flatMap((file) => {
    const [, name] = MANIFEST.exec(file.path) ?? [];
    if (name === undefined) return [];
    const { manifests, undecodable } = decodeManifests(name, contentsOf(path, file));
    const [first] = undecodable;
    if (first === undefined) return manifests;
    throw undecodableFile(path, file.path, `line ${first.line}: ${first.reason}`);
  });
}

function contentsOf(
  path: string,
  file: NonNullable<NonNullable<IgnitionConfig['storage']>['files']>[0],
) {
  const { contents } = file;
  if (contents?.source === undefined) return '';
  try {
    return decodeDataUrl(contents).toString('utf8');
  } catch (cause) {
    throw undecodableFile(path, file.path, undefined, cause);
  }
}

function undecodableFile(
  path: string,
  file: string,
  found: string | undefined,
  cause?: unknown,
): Failure {
  const details = { found, ...(cause === undefined ? {} : { cause }) };
  return new Failure('usage', `${file} in ${path} cannot be decoded`, details);
}

const find = (manifests: readonly Manifest[], kind: string, name: string) =>
  manifests.find((manifest) => manifest.kind === kind && manifest.name === name)?.object;
